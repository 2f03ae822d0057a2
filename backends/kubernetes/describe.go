package kubernetes

import (
	"context"
	"time"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// Describe reports the state of an app. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (b *Backend) Describe(ctx context.Context, id string) (*spec.Status, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	pods, err := t.pods(ctx)
	if err != nil {
		return nil, err
	}
	s := &spec.Status{Handle: handleOf(id), State: a.state()}
	roles := map[string]int{}
	for i := range pods {
		role := pods[i].Labels[label.Role]
		n, ok := roles[role]
		if !ok {
			n = len(s.Roles)
			roles[role], s.Roles = n, append(s.Roles, spec.RoleStatus{Role: role})
		}
		s.Roles[n].Replicas = append(s.Roles[n].Replicas, spec.ReplicaStatus{Role: role, ID: len(s.Roles[n].Replicas), State: s.State})
	}
	return s, nil
}

// Wait blocks until the app is terminal.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	for {
		s, err := b.Describe(ctx, id)
		if err != nil || s.State.Terminal() {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
