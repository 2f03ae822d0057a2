package runner

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"

	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Environment variables that every replica gets, or that configure the caller.
const (
	envJobID     = "TORCHX_JOB_ID"
	envSessionID = "TORCHX_INTERNAL_SESSION_ID"
	envParentRun = "TORCHX_PARENT_RUN_ID"
	envTrackers  = "TORCHX_TRACKERS"
)

// trackerEnv returns the variable that holds the config of a tracker.
func trackerEnv(name string) string { return "TORCHX_TRACKER_" + strings.ToUpper(name) + "_CONFIG" }

// ParseEnv reads the values of --env: NAME=VALUE, or NAME for the value that lookup returns.
// unset are the names without a value, which are left out.
func ParseEnv(
	args []string, lookup func(string) (string, bool),
) (env spec.Map[string], unset []string, err error) {
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok && key != "" && isPlainName(key) {
			if value, ok = lookup(key); !ok {
				unset = append(unset, key)
				continue
			}
		}
		if !ok || key == "" {
			if at := strings.IndexAny(arg, " :"); at > 0 {
				arg = arg[:at] + "..." // the rest may be a secret
			}
			return nil, nil, fmt.Errorf("invalid --env %q: expected NAME=VALUE, or NAME for the value that it has here", arg)
		}
		env.Set(key, value)
	}
	return env, unset, nil
}

// isPlainName reports whether a word can be meant as the name of a variable.
func isPlainName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r == ':' || unicode.IsSpace(r) || !unicode.IsPrint(r) })
}

// inject adds the variables of --env to every role, then the variables that identify the
// app to its replicas. They override the role's own.
func (r *Runner) inject(app *spec.App, backend string, q *PlanRequest) {
	if q.Injected {
		return
	}
	identity := r.identityEnv(backend, q)
	for i := range app.Roles {
		for _, vars := range []spec.Map[string]{q.Env, identity} {
			for _, e := range vars {
				app.Roles[i].Env.Set(e.Key, e.Value)
			}
		}
	}
}

func (r *Runner) identityEnv(backend string, q *PlanRequest) spec.Map[string] {
	var env spec.Map[string]
	env.Set(envJobID, history.AppKey{Backend: backend, ID: "${app_id}"}.Handle())
	env.Set(envSessionID, r.sessionID())
	if parent := r.envOr(envParentRun, q.ParentRunID); parent != "" {
		env.Set(envParentRun, parent)
	}
	var names []string
	trackers := r.Trackers(q.Trackers)
	for _, t := range trackers {
		names = append(names, t.Name)
	}
	if len(names) > 0 {
		env.Set(envTrackers, strings.Join(names, ","))
	}
	for _, t := range trackers {
		if t.Config != "" {
			env.Set(trackerEnv(t.Name), t.Config)
		}
	}
	return env
}

// Trackers returns the trackers that the environment names, else the configured ones. The
// environment also overrides the config of each.
func (r *Runner) Trackers(configured []config.Tracker) []config.Tracker {
	var names []string
	configs := map[string]string{}
	for _, c := range configured {
		names = append(names, c.Name)
		configs[c.Name] = c.Config
	}
	if text, ok := r.env(envTrackers); ok {
		names = strings.Split(text, ",")
	}
	var list []config.Tracker
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, config.Tracker{Name: name, Config: r.envOr(trackerEnv(name), configs[name])})
		}
	}
	return list
}

// envOr returns a variable of the caller's environment, or other if it is unset or empty.
func (r *Runner) envOr(name, other string) string {
	if v, ok := r.env(name); ok && v != "" {
		return v
	}
	return other
}

// sessionID returns the caller's session ID, so that apps of one session can be grouped,
// or a new random UUID (RFC 9562, version 4).
func (r *Runner) sessionID() string {
	if id := r.envOr(envSessionID, ""); id != "" {
		return id
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], r.random())
	binary.BigEndian.PutUint64(b[8:], r.random())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
