package runner

import (
	"context"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Inside is a running replica, and the backend with the capability T that was asked for.
type Inside[T comparable] struct {
	Backend T
	Ref     history.AppKey
	Replica spec.Replica
}

// String returns HANDLE/ROLE/ID.
func (i Inside[T]) String() string { return replicaName(i.Ref, i.Replica) }

func replicaName(ref history.AppKey, r spec.Replica) string {
	return fmt.Sprintf("%s/%s/%d", ref.Handle(), r.Role, r.ID)
}

// FindInside finds the running replica that APP[/ROLE[/ID]] names; role and ID may be left out
// where there is only one. has returns the capability, which what names in errors. Errors: those
// of Resolve and Status, backend.ErrNotFound, backend.ErrNotRunning, backend.ErrUnsupported.
func FindInside[T comparable](
	ctx context.Context, r *Runner, text, what string, has func(backend.Capabilities) T,
) (in Inside[T], err error) {
	var role string
	var ids []int
	if in.Ref, role, ids, err = r.ResolveLog(ctx, text); err != nil {
		return in, err
	}
	can, err := r.Backends.Capabilities(in.Ref.Backend)
	if err != nil {
		return in, err
	}
	s, err := r.Status(ctx, in.Ref)
	if err != nil {
		return in, err
	}
	if r.IsSweep(in.Ref) {
		return in, backend.Errorf(backend.ErrUnsupported, "%s is a sweep: name the app of a trial (`torchx status %s` lists them)", in.Ref.Handle(), in.Ref.ID)
	}
	var none T
	if in.Backend = has(can); in.Backend == none {
		return in, backend.Errorf(backend.ErrUnsupported, "%s is not supported by backend %s",
			what, in.Ref.Backend)
	}
	found, err := selectReplicas(in.Ref, r.replicas(ctx, in.Ref, s), role, ids)
	if err != nil {
		return in, err
	}
	switch {
	case len(found) == 0:
		return in, notRunning(in.Ref, s.State, s.State.Started(), nil)
	case len(found) > 1:
		return in, fmt.Errorf("%s names %d replicas: name one, such as %s", text, len(found),
			replicaName(in.Ref, found[0]))
	}
	in.Replica = found[0]
	rs := s.Replica(in.Replica)
	if rs == nil || rs.State != spec.Running {
		state, started := s.State, s.State.Started()
		if rs != nil {
			state, started = rs.State, rs.State.Started()
		}
		return in, notRunning(in.Ref, state, started, &in.Replica)
	}
	return in, nil
}

// notRunning returns the error for a replica, or for an app if r is nil, that does not run.
func notRunning(ref history.AppKey, state spec.State, started bool, r *spec.Replica) error {
	name := ref.Handle()
	if r != nil {
		name = replicaName(ref, *r)
	}
	switch {
	case state == spec.Unknown:
		return backend.Errorf(backend.ErrNotRunning, "%s is %s: `torchx status %s` shows why",
			name, state, ref.ID)
	case started:
		return backend.Errorf(backend.ErrNotRunning, "%s has ended (%s): `torchx log %s` prints its output, `torchx rerun %s` runs the app again", name, state, name, ref.ID)
	}
	return backend.Errorf(backend.ErrNotRunning,
		"%s has not started (%s): `torchx log -f %s` waits until it has", name, state, name)
}
