package spec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// OrderKey is the key of role metadata that torchx itself reads:
//
//	metadata = {"torchx": {
//	    "depends_on": {"db": "ready"},           # or ["db"], which means "started"
//	    "ready": {"port": "http", "timeout": 30},
//	    "sidecar": True,
//	    "max_parallel": 4,
//	    "timeout": "2h", "retry_on_timeout": True,
//	    "metrics": {"loss": r"loss=(\S+)"},
//	}}
//
// All other keys of the metadata belong to backends.
const OrderKey = "torchx"

// Keys of the value of OrderKey.
const (
	dependsOnKey   = "depends_on"
	readyKey       = "ready"
	sidecarKey     = "sidecar"
	maxParallelKey = "max_parallel"
)

// Condition is the progress of a role that its dependents wait for. The names are those of
// compose files, shortened.
type Condition string

// The conditions.
const (
	DependsStarted   Condition = "started"   // all replicas are running, or have succeeded
	DependsReady     Condition = "ready"     // all replicas have passed their probe in this attempt, or have succeeded
	DependsSucceeded Condition = "succeeded" // the required number of replicas has succeeded
)

var conditions = []Condition{DependsStarted, DependsReady, DependsSucceeded}

// String describes the dependency: "role db to be ready".
func (d Dependency) String() string {
	how := map[Condition]string{DependsStarted: "to run", DependsReady: "to be ready", DependsSucceeded: "to succeed"}
	return fmt.Sprintf("role %s %s", d.Role, how[d.Condition])
}

// Dependency is a role that another role waits for.
type Dependency struct {
	Role      string
	Condition Condition
}

// Order is the part of a role's metadata on when it starts, is ready and ends.
type Order struct {
	DependsOn []Dependency // sorted by role
	Ready     *Probe       // nil: ready as soon as it runs
	// Sidecar means that the role serves the others. It is stopped when all of them have
	// succeeded, which counts as its success.
	Sidecar bool
	// MaxParallel is how many replicas run at the same time at most; 0: all of them.
	MaxParallel int
	// Timeout bounds each attempt of a replica, from its start; 0: no limit.
	Timeout time.Duration
	// RetryOnTimeout means that an attempt that exceeds Timeout is retried like one that
	// failed. Without it, the replica has failed for good.
	RetryOnTimeout bool
}

// Order decodes the role's metadata. Errors name the role and the key.
func (r *Role) Order() (Order, error) {
	o := Order{}
	own, ok := r.Metadata[OrderKey]
	if !ok {
		return o, nil
	}
	at := fmt.Sprintf("role %s: metadata[%q]", r.Name, OrderKey)
	values, err := object(at, own, dependsOnKey, readyKey, sidecarKey, maxParallelKey, timeoutKey,
		retryOnTimeoutKey, metricsKey)
	if err != nil {
		return o, err
	}
	if v, ok := values[dependsOnKey]; ok {
		if o.DependsOn, err = dependencies(fmt.Sprintf("%s[%q]", at, dependsOnKey), v); err != nil {
			return o, err
		}
	}
	if v, ok := values[readyKey]; ok {
		if o.Ready, err = parseProbe(fmt.Sprintf("%s[%q]", at, readyKey), v, r.PortMap); err != nil {
			return o, err
		}
	}
	if v, ok := values[maxParallelKey]; ok {
		n, ok := number(v)
		if !ok || n < 1 || n > MaxReplicas || n != math.Trunc(n) {
			return o, fmt.Errorf("%s[%q] is %s, want a whole number from 1 to %d", at,
				maxParallelKey, short(fmt.Sprint(v)), MaxReplicas)
		}
		o.MaxParallel = int(n)
	}
	if v, ok := values[timeoutKey]; ok {
		if o.Timeout, err = parseTimeout(fmt.Sprintf("%s[%q]", at, timeoutKey), v); err != nil {
			return o, err
		}
	}
	for key, on := range map[string]*bool{sidecarKey: &o.Sidecar, retryOnTimeoutKey: &o.RetryOnTimeout} {
		if v, ok := values[key]; ok {
			if *on, ok = v.(bool); !ok {
				return o, fmt.Errorf("%s[%q] is %s, want True or False", at, key, kindOf(v))
			}
		}
	}
	if o.RetryOnTimeout && o.Timeout == 0 {
		return o, fmt.Errorf("%s[%q] needs %q", at, retryOnTimeoutKey, timeoutKey)
	}
	return o, nil
}

// Ordered reports whether a role of the app has dependencies, a probe or is a sidecar.
func (a *App) Ordered() bool {
	return slices.ContainsFunc(a.Roles, func(r Role) bool { _, ok := r.Metadata[OrderKey]; return ok })
}

// object checks that v is a map with only known keys.
func object(at string, v any, known ...string) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is %s, want a dict with %s", at, kindOf(v),
			strings.Join(known, ", "))
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, k) {
			return nil, fmt.Errorf("%s has unknown key %q, want one of: %s", at, k,
				strings.Join(known, ", "))
		}
	}
	return m, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case string:
		return "a string"
	case bool:
		return "a bool"
	case []any, Tuple:
		return "a list"
	case map[string]any:
		return "a dict"
	}
	return "a number"
}

func dependencies(at string, v any) ([]Dependency, error) {
	var all []Dependency
	switch v := v.(type) {
	case map[string]any:
		for _, role := range slices.Sorted(maps.Keys(v)) {
			c, _ := v[role].(string)
			if !slices.Contains(conditions, Condition(c)) {
				return nil, fmt.Errorf("%s[%q] must be one of %q", at, role, conditions)
			}
			all = append(all, Dependency{role, Condition(c)})
		}
		return all, nil
	case []any:
		for _, e := range v {
			role, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("%s holds %s, want names of roles", at, kindOf(e))
			}
			all = append(all, Dependency{role, DependsStarted})
		}
		slices.SortFunc(all, func(a, b Dependency) int { return strings.Compare(a.Role, b.Role) })
		return slices.Compact(all), nil
	}
	return nil, fmt.Errorf(`%s is %s, want a dict such as {"db": "ready"} or a list of roles`, at, kindOf(v))
}

// validateOrder checks that every dependency exists and can be met, that there is no cycle,
// and that not all roles are sidecars.
func (a *App) validateOrder() error {
	orders := make(map[string]Order, len(a.Roles))
	for i := range a.Roles {
		o, err := a.Roles[i].Order()
		if err != nil {
			return err
		}
		orders[a.Roles[i].Name] = o
	}
	for _, name := range a.RoleNames() {
		for _, d := range orders[name].DependsOn {
			if _, ok := orders[d.Role]; !ok {
				return fmt.Errorf("role %s depends on unknown role %q, want one of: %s", name,
					d.Role, strings.Join(a.RoleNames(), ", "))
			}
			if d.Condition == DependsReady && orders[d.Role].Ready == nil {
				return fmt.Errorf("role %s waits for role %s to be ready, but %[2]s has no probe: add metadata={%q: {%q: ...}} to %[2]s, or wait for %[5]q",
					name, d.Role, OrderKey, readyKey, DependsStarted)
			}
			if d.Condition == DependsSucceeded && orders[d.Role].Sidecar {
				return fmt.Errorf("role %s waits for role %s to succeed, but %[2]s is a sidecar, which ends last: wait for %q or %q",
					name, d.Role, DependsStarted, DependsReady)
			}
		}
	}
	if !slices.ContainsFunc(a.RoleNames(), func(name string) bool { return !orders[name].Sidecar }) {
		return fmt.Errorf("every role is a sidecar (%s): at least one must not be, since sidecars end when the other roles have succeeded",
			strings.Join(a.RoleNames(), ", "))
	}
	if c := cycle(a.RoleNames(), orders); c != nil {
		return fmt.Errorf("roles wait for each other: %s", strings.Join(c, " -> "))
	}
	return nil
}

// cycle returns a path along depends_on from a role back to itself, nil if there is none.
func cycle(names []string, orders map[string]Order) []string {
	done, onPath := map[string]bool{}, map[string]bool{}
	var path []string
	var visit func(name string) []string
	visit = func(name string) []string {
		if done[name] {
			return nil
		}
		if onPath[name] {
			return append(slices.Clone(path[slices.Index(path, name):]), name)
		}
		path, onPath[name] = append(path, name), true
		for _, d := range orders[name].DependsOn {
			if c := visit(d.Role); c != nil {
				return c
			}
		}
		path, onPath[name] = path[:len(path)-1], false
		done[name] = true
		return nil
	}
	for _, name := range names {
		if c := visit(name); c != nil {
			return c
		}
	}
	return nil
}
