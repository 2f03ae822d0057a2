package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"torchx/runtime/humanize"
)

// MaxTimeout is the longest time limit: ten years of seconds fit in the 32 bits that
// Kubernetes has for them.
const MaxTimeout = 3650 * 24 * time.Hour

// retryOnTimeoutKey is the key of role metadata that lets an attempt be retried after its
// timeout.
const retryOnTimeoutKey = "retry_on_timeout"

// errTimeout describes valid time limits.
var errTimeout = errors.New("write a positive duration of at most 3650d, such as 90s, 30m, 2h or 1d12h")

// ParseTimeout parses a time limit: a duration as humanize.ParseDuration reads it.
func ParseTimeout(text string) (time.Duration, error) {
	d, err := humanize.ParseDuration(text)
	if err != nil || d <= 0 || d > MaxTimeout {
		return 0, errTimeout
	}
	return d, nil
}

// parseTimeout reads a time limit in metadata: a text, or a number of seconds.
func parseTimeout(at string, v any) (time.Duration, error) {
	if n, ok := number(v); ok && n > 0 && n <= MaxTimeout.Seconds() {
		return time.Duration(n * float64(time.Second)), nil
	}
	text, _ := v.(string)
	d, err := ParseTimeout(text)
	if err != nil {
		return 0, fmt.Errorf("%s is %s: %w", at, short(fmt.Sprint(v)), err)
	}
	return d, nil
}

// DeadlineText is the message of what ran longer than its time limit.
func DeadlineText(limit time.Duration) string {
	return fmt.Sprintf("deadline of %s exceeded", humanize.FormatDuration(limit))
}

// Limits are the part of an app's metadata that torchx itself reads:
//
//	metadata = {"torchx": {"timeout": "2h"}}
type Limits struct {
	// Timeout bounds the time from the first start of a replica, including all retries; 0:
	// no limit.
	Timeout time.Duration
	// SecretEnv are the variables whose values are hidden, whatever their names.
	SecretEnv []string
}

// secretEnvKey is the key of app metadata with the names of secret variables. Its text does not
// look like that of a secret, which output would hide.
const secretEnvKey = "hidden_env"

// Limits decodes the app's metadata. Errors name the key.
func (a *App) Limits() (l Limits, err error) {
	own, ok := a.Metadata[OrderKey]
	if !ok {
		return l, nil
	}
	at := fmt.Sprintf("app %s: metadata[%q]", a.Name, OrderKey)
	values, err := object(at, own, timeoutKey, secretEnvKey, metricsKey)
	if err != nil {
		return l, err
	}
	if v, ok := values[timeoutKey]; ok {
		l.Timeout, err = parseTimeout(fmt.Sprintf("%s[%q]", at, timeoutKey), v)
	}
	names, _ := values[secretEnvKey].([]any)
	for _, v := range names {
		if name, ok := v.(string); ok {
			l.SecretEnv = append(l.SecretEnv, name)
		}
	}
	return l, err
}

// SetTimeout sets the app's time limit in its metadata.
func (a *App) SetTimeout(limit time.Duration) { a.setOwn(timeoutKey, humanize.FormatDuration(limit)) }

// AddSecretEnv adds variables whose values are hidden.
func (a *App) AddSecretEnv(names []string) {
	known, _ := a.Limits() // on an error Validate reports it
	names = slices.Concat(known.SecretEnv, names)
	slices.Sort(names)
	names = slices.Compact(names)
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	a.setOwn(secretEnvKey, list)
}

// OtherMetadata returns the app's metadata without its Limits.
func (a *App) OtherMetadata() map[string]any {
	own, ok := a.Metadata[OrderKey].(map[string]any)
	if !ok {
		return a.Metadata
	}
	own = maps.Clone(own)
	delete(own, timeoutKey)
	delete(own, secretEnvKey)
	others := maps.Clone(a.Metadata)
	others[OrderKey] = own
	if len(own) == 0 {
		delete(others, OrderKey)
	}
	return others
}

func (a *App) setOwn(key string, v any) {
	own, _ := a.Metadata[OrderKey].(map[string]any)
	own = maps.Clone(own)
	if own == nil {
		own = map[string]any{}
	}
	own[key] = v
	a.Metadata = maps.Clone(a.Metadata)
	if a.Metadata == nil {
		a.Metadata = map[string]any{}
	}
	a.Metadata[OrderKey] = own
}
