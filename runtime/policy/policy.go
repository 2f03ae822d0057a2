// Package policy decides when the replicas of an app start, stop and restart, and how the app
// ended: facts go in, actions come out. It uses no clock, process or file, so that the journal of
// an app can be replayed through it.
package policy

import (
	"cmp"
	"slices"
	"time"

	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// Policy is the state machine of one app.
type Policy struct {
	App         *spec.App
	failFast    bool
	QueueReason string         // why nothing has started yet
	Random      func() float64 // in [0, 1), spreads back-offs; nil: no jitter

	Replicas []*Replica // in the order of the app's roles
	ByKey    map[spec.Replica]*Replica
	byRole   map[*spec.Role][]*Replica
	Orders   map[*spec.Role]spec.Order // of roles that have one

	restarts      int // restarts that happened
	appRestarts   int
	roleRestarts  map[*spec.Role]*int
	restartGroups []*restartGroup      // groups that wait for their replicas to end
	pastAttempts  []spec.ReplicaStatus // attempts before the last ones
	announced     []spec.Restart       // all restarts decided, including those yet to happen

	// What determines the app's result.
	startedAt     *time.Time
	cancelled     bool
	deadline      string // message if the app exceeded its time limit; "" if it did not
	CannotSucceed bool
	sidecarFailed bool                // a sidecar failed for good while others ran
	sidecarsEnded bool                // all other roles have ended, so sidecars were stopped
	firstFailure  *spec.ReplicaStatus // of the replica that failed first for good
}

// restartGroup is a set of replicas that restart together once all have ended.
type restartGroup struct {
	replicas []*Replica
	delay    time.Duration
	counted  bool // counted in restarts
}

// Action is a request of the policy: exactly one of start and stop is set.
type Action struct {
	Start *Replica
	Delay time.Duration // before start
	Stop  *Replica
}

// New returns the policy of an app that has not started.
func New(app *spec.App, failFast bool) *Policy {
	p := &Policy{App: app, failFast: failFast}
	p.ByKey, p.byRole = map[spec.Replica]*Replica{}, map[*spec.Role][]*Replica{}
	p.Orders, p.roleRestarts = ordersOf(app), map[*spec.Role]*int{}
	for i := range app.Roles {
		role := &app.Roles[i]
		p.roleRestarts[role] = new(int)
		for id := range role.NumReplicas {
			r := &Replica{Key: spec.Replica{Role: role.Name, ID: id}, Role: role, State: spec.Pending}
			p.Replicas = append(p.Replicas, r)
			p.ByKey[r.Key] = r
			p.byRole[role] = append(p.byRole[role], r)
		}
	}
	return p
}

// StartAll returns the first start of every replica.
func (p *Policy) StartAll() (acts []Action) {
	for _, r := range p.Replicas {
		acts = append(acts, Action{Start: r})
	}
	return acts
}

// CanStart reports whether a requested start is still wanted.
func (p *Policy) CanStart(r *Replica, attempt int) bool {
	return !p.isEnding() && r.State == spec.Pending && r.NextAttempt == attempt &&
		(!p.CannotSucceed || !p.failFast)
}

// NoteStarted records that an attempt has started.
func (p *Policy) NoteStarted(r *Replica, process Process, now time.Time) {
	p.countRestart(r)
	r.State, r.blocked, r.admitted = spec.Running, false, false
	r.lastAttempt = lastAttempt{Attempt: r.NextAttempt, hasStarted: true, Process: process, StartedAt: &now, Stopping: r.Stopping}
	p.startedAt = outcome.Earlier(p.startedAt, &now)
}

// NoteRefused records that a replica can never start: the app ends, even with retries left.
func (p *Policy) NoteRefused(r *Replica, code int, msg string, now time.Time) []Action {
	p.countRestart(r)
	r.Attempt, r.StartedAt = r.NextAttempt, nil
	r.end(spec.Failed, code, "", now)
	r.Msg = msg
	p.noteFailure(r)
	p.giveUp(r.Role)
	return p.stopAll(now)
}

// NoteExited records the exit of an attempt and returns the resulting actions.
func (p *Policy) NoteExited(r *Replica, e Exit) (acts []Action) {
	if r.State != spec.Running {
		return nil
	}
	if !r.Stopping {
		r.Msg = cmp.Or(r.KillReason, e.Msg)
	}
	switch {
	case r.retired:
		r.endRetired(e.Code, e.Time)
	case r.Stopping:
		r.end(spec.Cancelled, e.Code, e.Signal, e.Time)
	case e.Code == 0 && !e.Lost:
		r.end(spec.Succeeded, 0, "", e.Time)
	default:
		r.end(spec.Failed, e.Code, e.Signal, e.Time)
		acts = p.handleFailure(r, e)
	}
	return slices.Concat(acts, p.startRestartGroups(), p.StartUnblocked(e.Time),
		p.EndSidecars(e.Time))
}

// handleFailure applies the role's retry policy. If the replica failed for good, it decides
// whether the app did.
func (p *Policy) handleFailure(r *Replica, e Exit) []Action {
	if !e.Overran || p.Orders[r.Role].RetryOnTimeout {
		if acts, retried := p.retry(r, e.Lost); retried {
			return acts
		}
	}
	p.noteFailure(r)
	if p.countAlive(r.Role) >= requiredReplicas(r.Role) {
		return nil
	}
	p.giveUp(r.Role)
	if !p.failFast {
		return nil
	}
	return p.stopAll(e.Time)
}

// giveUp records that a role, and so the app, has failed.
func (p *Policy) giveUp(role *spec.Role) {
	p.CannotSucceed = true
	p.sidecarFailed = p.sidecarFailed || p.Orders[role].Sidecar
}

func (p *Policy) noteFailure(r *Replica) {
	if p.firstFailure == nil {
		s := r.status()
		p.firstFailure = &s
	}
}

// Cancel cancels the app.
func (p *Policy) Cancel(now time.Time) []Action {
	if p.cancelled {
		return nil
	}
	p.cancelled = true
	return p.stopAll(now)
}

// stopAll drops all restarts, stops running replicas and cancels pending ones.
func (p *Policy) stopAll(now time.Time) (acts []Action) {
	p.restartGroups = nil
	for _, r := range p.Replicas {
		acts = append(acts, r.stop()...)
		if r.State == spec.Pending {
			p.cancelPending(r, now)
		}
	}
	return acts
}

// IsDone reports whether no replica runs or will run.
func (p *Policy) IsDone() bool {
	ended := func(r *Replica) bool { return r.State.Terminal() }
	return count(p.Replicas, ended) == len(p.Replicas) && len(p.restartGroups) == 0
}

func count(replicas []*Replica, is func(*Replica) bool) (n int) {
	for _, r := range replicas {
		if is(r) {
			n++
		}
	}
	return n
}

// requiredReplicas returns how many replicas of a role must succeed.
func requiredReplicas(role *spec.Role) int {
	if role.MinReplicas == nil {
		return role.NumReplicas
	}
	return min(max(*role.MinReplicas, 0), role.NumReplicas)
}

// countAlive counts the replicas of a role that succeeded or still can.
func (p *Policy) countAlive(role *spec.Role) int {
	return count(p.byRole[role], func(r *Replica) bool { return r.State != spec.Failed && r.State != spec.Cancelled })
}
