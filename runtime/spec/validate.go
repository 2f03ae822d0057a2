package spec

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Validate checks the requirements of all backends. Errors name the role and the remedy.
func (a *App) Validate() error {
	if a.Name == "" {
		return fmt.Errorf("app has no name: set AppDef(name=...)")
	}
	if hasControl(a.Name) {
		return fmt.Errorf("invalid app name %s: control characters are not allowed", short(a.Name))
	}
	if len(a.Name) > MaxName {
		return fmt.Errorf("app name %s has %d bytes, want at most %d", short(a.Name),
			len(a.Name), MaxName)
	}
	if len(a.Roles) == 0 {
		return fmt.Errorf("no roles for app: %s. Did you forget to add roles to AppDef?", a.Name)
	}
	if err := a.CheckLimits(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range a.Roles {
		r := &a.Roles[i]
		if seen[r.Name] {
			return fmt.Errorf("role %q is defined twice: role names must be unique", r.Name)
		}
		seen[r.Name] = true
		if err := r.validate(); err != nil {
			return err
		}
	}
	if _, err := a.Limits(); err != nil {
		return err
	}
	if err := a.checkMetrics(); err != nil {
		return err
	}
	return a.validateOrder()
}

func (r *Role) validate() error {
	switch {
	case r.Name == "":
		return fmt.Errorf("a role has no name: set Role(name=...)")
	case strings.Contains(r.Name, "/") || hasControl(r.Name):
		return fmt.Errorf("invalid role name %s: '/' and control characters are not allowed", short(r.Name))
	case len(r.Name) > MaxName:
		return fmt.Errorf("role name %s has %d bytes, want at most %d", short(r.Name),
			len(r.Name), MaxName)
	case r.Entrypoint == "" || r.Entrypoint == Missing:
		return fmt.Errorf("no entrypoint for role: %s. Did you forget to set role.entrypoint?", r.Name)
	case r.NumReplicas <= 0:
		return fmt.Errorf("non-positive replicas for role: %s. Did you forget to set role.num_replicas?", r.Name)
	case r.MaxRetries < 0:
		return fmt.Errorf("negative max_retries for role: %s", r.Name)
	case !slices.Contains(RetryPolicies, r.RetryPolicy):
		return fmt.Errorf("unknown retry_policy %s of role %s, must be one of %v",
			short(string(r.RetryPolicy)), r.Name, RetryPolicies)
	}
	for _, e := range r.Env {
		if e.Key == "" || strings.ContainsAny(e.Key, "=\x00") || strings.Contains(e.Value, "\x00") {
			return fmt.Errorf("invalid env entry %s of role %s: the name is empty, or it contains '=' or a NUL byte", short(e.Key), r.Name)
		}
	}
	for _, arg := range append([]string{r.Entrypoint}, r.Args...) {
		if strings.Contains(arg, "\x00") {
			return fmt.Errorf("argument %s of role %s has a NUL byte", short(arg), r.Name)
		}
	}
	return r.checkNumbers()
}

// hasControl reports whether a name would control a terminal that it is printed on, or
// change the direction of the text around it.
func hasControl(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// checkNumbers rejects numbers of a role that would overflow, or make a plan endless.
func (r *Role) checkNumbers() error {
	for _, n := range r.numbers() {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("role %s: %s is %d, want %d to %d", short(r.Name), n.name, n.value,
				max(n.least, 0), n.most)
		}
	}
	if cpu := r.Resource.CPU; !(math.Abs(cpu) <= maxNumber) { // false for NaN
		return fmt.Errorf("role %s: cpu is %v, want 0 to %d", short(r.Name), cpu, maxNumber)
	}
	return nil
}

// numberRange is a number and its valid range.
type numberRange struct {
	name               string
	value, least, most int
}

func (r *Role) numbers() []numberRange {
	list := []numberRange{
		{"max_retries", r.MaxRetries, 0, maxNumber},
		{"gpu", r.Resource.GPU, -maxNumber, maxNumber}, // negative: not set
		{"memMB", r.Resource.MemMB, -maxNumber, maxNumber},
	}
	if r.MinReplicas != nil {
		list = append(list, numberRange{"min_replicas", *r.MinReplicas, 0, maxNumber})
	}
	for _, e := range r.Resource.Devices {
		list = append(list, numberRange{"devices[" + short(e.Key) + "]", e.Value, 0, maxNumber})
	}
	for _, e := range r.PortMap {
		list = append(list, numberRange{"port_map[" + short(e.Key) + "]", e.Value, 0, math.MaxUint16})
	}
	return list
}

// short quotes and shortens a name for a message of one line.
func short(name string) string {
	const most = 60
	if len(name) > most {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(name[:most], ""))
	}
	return fmt.Sprintf("%q", name)
}
