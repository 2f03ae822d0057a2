package spec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Validate checks what every backend needs of an app. Errors name the role and
// what to change.
func (a *App) Validate() error {
	if a.Name == "" {
		return fmt.Errorf("app has no name: set AppDef(name=...)")
	}
	if hasControl(a.Name) {
		return fmt.Errorf("invalid app name %q: control characters are not allowed", a.Name)
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
			return fmt.Errorf("role %q is given twice: names of roles must differ", r.Name)
		}
		seen[r.Name] = true
		if err := r.validate(); err != nil {
			return err
		}
	}
	return a.validateOrder()
}

func (r *Role) validate() error {
	switch {
	case r.Name == "":
		return fmt.Errorf("a role has no name: set Role(name=...)")
	case strings.Contains(r.Name, "/") || hasControl(r.Name):
		return fmt.Errorf("invalid role name %q: '/' and control characters are not allowed", r.Name)
	case r.Entrypoint == "" || r.Entrypoint == Missing:
		return fmt.Errorf("no entrypoint for role: %s. Did you forget to set role.entrypoint?", r.Name)
	case r.NumReplicas <= 0:
		return fmt.Errorf("non-positive replicas for role: %s. Did you forget to set role.num_replicas?", r.Name)
	case r.MaxRetries < 0:
		return fmt.Errorf("negative max_retries for role: %s", r.Name)
	case !slices.Contains(RetryPolicies, r.RetryPolicy):
		return fmt.Errorf("unknown retry_policy %q of role %s, must be one of %v", r.RetryPolicy, r.Name, RetryPolicies)
	}
	for _, e := range r.Env {
		if e.Key == "" || strings.ContainsAny(e.Key, "=\x00") || strings.Contains(e.Value, "\x00") {
			return fmt.Errorf("invalid env entry %q of role %s: no name, or '=' or a NUL byte in it", e.Key, r.Name)
		}
	}
	for _, arg := range append([]string{r.Entrypoint}, r.Args...) {
		if strings.Contains(arg, "\x00") {
			return fmt.Errorf("argument %q of role %s has a NUL byte", arg, r.Name)
		}
	}
	return r.checkNumbers()
}

// hasControl finds what could drive a terminal when the name is printed.
func hasControl(name string) bool { return strings.ContainsFunc(name, unicode.IsControl) }

// checkNumbers refuses numbers of a role that would overflow later.
func (r *Role) checkNumbers() error {
	at := func(format string, args ...any) error {
		return errors.New("role " + short(r.Name) + ": " + fmt.Sprintf(format, args...))
	}
	numbers := []part{{"max_retries", r.MaxRetries}, {"gpu", r.Resource.GPU}, {"memMB", r.Resource.MemMB}}
	if r.MinReplicas != nil {
		numbers = append(numbers, part{"min_replicas", *r.MinReplicas})
	}
	for _, d := range r.Resource.Devices {
		numbers = append(numbers, part{"devices[" + short(d.Key) + "]", d.Value})
	}
	for _, n := range numbers {
		if n.size > maxNumber || n.size < -maxNumber {
			return at("%s is %d, and at most %d is possible", n.name, n.size, maxNumber)
		}
	}
	if cpu := r.Resource.CPU; !(math.Abs(cpu) <= maxNumber) { // NaN is not
		return at("cpu is %v, and at most %d is possible", cpu, maxNumber)
	}
	for _, p := range r.PortMap {
		if p.Value < 0 || p.Value > math.MaxUint16 {
			return at("port_map[%s] is %d, which is not a port number (0 to %d)", short(p.Key), p.Value, math.MaxUint16)
		}
	}
	return nil
}

// short quotes a name for a message of one line.
func short(name string) string {
	const most = 60
	if len(name) > most {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(name[:most], ""))
	}
	return fmt.Sprintf("%q", name)
}
