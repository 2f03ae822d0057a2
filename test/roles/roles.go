// Package roles makes roles of apps for tests of what supervises them.
package roles

import "torchx/runtime/spec"

// New returns a role with replicas of a program, changed by change unless that is nil.
func New(name string, replicas int, change func(*spec.Role)) spec.Role {
	r := spec.NewRole(name, "img")
	r.Entrypoint, r.NumReplicas = "prog", replicas
	if change != nil {
		change(&r)
	}
	return r
}

// Retries sets how often what restarts.
func Retries(p spec.RetryPolicy, n int) func(*spec.Role) {
	return func(r *spec.Role) { r.RetryPolicy, r.MaxRetries = p, n }
}

// Elastic lets a role lose replicas down to a minimum.
func Elastic(minimum int, more func(*spec.Role)) func(*spec.Role) {
	return func(r *spec.Role) {
		r.MinReplicas = &minimum
		if more != nil {
			more(r)
		}
	}
}

// Ordered sets a key of the order of a role, besides the keys that more sets.
func Ordered(key string, value any, more func(*spec.Role)) func(*spec.Role) {
	return func(r *spec.Role) {
		if more != nil {
			more(r)
		}
		if r.Metadata[spec.OrderKey] == nil {
			r.Metadata = map[string]any{spec.OrderKey: map[string]any{}}
		}
		r.Metadata[spec.OrderKey].(map[string]any)[key] = value
	}
}
