package agent

import (
	"torchx/runtime/spec"
)

func role(name string, replicas int, change func(*spec.Role)) spec.Role {
	r := spec.NewRole(name, "img")
	r.Entrypoint, r.NumReplicas = "prog", replicas
	if change != nil {
		change(&r)
	}
	return r
}

func retries(p spec.RetryPolicy, n int) func(*spec.Role) {
	return func(r *spec.Role) { r.RetryPolicy, r.MaxRetries = p, n }
}

func elastic(minimum int, more func(*spec.Role)) func(*spec.Role) {
	return func(r *spec.Role) {
		r.MinReplicas = &minimum
		if more != nil {
			more(r)
		}
	}
}

// ordered sets one key of the order of a role.
func ordered(key string, value any, more func(*spec.Role)) func(*spec.Role) {
	return func(r *spec.Role) {
		r.Metadata = map[string]any{spec.OrderKey: map[string]any{key: value}}
		if more != nil {
			more(r)
		}
	}
}
