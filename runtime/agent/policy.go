package agent

import (
	"cmp"
	"slices"
	"time"

	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// policy decides when replicas start, stop and restart. It is a pure state machine: events
// go in, actions come out. It uses no clock, process or file, so that reconcile can replay
// an app's journal through it.
type policy struct {
	app         *spec.App
	failFast    bool
	queueReason string         // why nothing has started yet
	random      func() float64 // in [0, 1), spreads back-offs; nil: no jitter

	roster
	restartCounts
	appOutcome
}

// roster has the replicas of an app.
type roster struct {
	replicas []*replica // in the order of the app's roles
	byKey    map[spec.Replica]*replica
	byRole   map[*spec.Role][]*replica
	orders   map[*spec.Role]spec.Order // of roles that have one
}

// restartCounts counts restarts and holds pending ones.
type restartCounts struct {
	restarts      int // restarts that happened
	appRestarts   int
	roleRestarts  map[*spec.Role]*int
	restartGroups []*restartGroup      // groups that wait for their replicas to end
	pastAttempts  []spec.ReplicaStatus // attempts before the last ones
	announced     []spec.Restart       // all restarts decided, including those yet to happen
}

// appOutcome holds what determines the app's result.
type appOutcome struct {
	startedAt     *time.Time
	cancelled     bool
	deadline      string // message if the app exceeded its time limit; "" if it did not
	cannotSucceed bool
	sidecarFailed bool                // a sidecar failed for good while others ran
	sidecarsEnded bool                // all other roles have ended, so sidecars were stopped
	firstFailure  *spec.ReplicaStatus // of the replica that failed first for good
}

// replica is one replica of a role.
type replica struct {
	key     spec.Replica
	role    *spec.Role
	devices []string   // assigned exclusively
	state   spec.State // Pending (to be started), Running or terminal

	nextStart
	lastAttempt
}

// nextStart describes the start that a pending replica waits for.
type nextStart struct {
	nextAttempt  int           // the attempt to start, or the running one
	restartGroup *restartGroup // of the start; nil: first start
	blocked      bool          // its role waits for another, or it for replicas of its role
	admitted     bool          // counted for max_parallel
	restarts     int
}

// lastAttempt describes the last attempt that started.
type lastAttempt struct {
	attempt     int
	hasStarted  bool
	process     Process
	startedAt   *time.Time
	ready       bool   // it has passed its probe
	unreachable string // why this machine cannot reach the port of its probe; "": it may
	stopping    bool   // asked to end by the policy
	retired     bool   // a sidecar asked to end because all other roles succeeded
	killReason  string // why it was ended: not ready in time, its timeout, or out of memory
	overran     bool   // it exceeded the timeout of its role
	result
}

// result is how an attempt ended.
type result struct {
	exitCode   *int
	signal     string
	msg        string
	finishedAt *time.Time
	errorFile  []byte
	usage      *Usage
}

// restartGroup is a set of replicas that restart together once all have ended.
type restartGroup struct {
	replicas []*replica
	delay    time.Duration
	counted  bool // counted in restarts
}

// action is a request of the policy: exactly one of start and stop is set.
type action struct {
	start *replica
	delay time.Duration // before start
	stop  *replica
}

func newPolicy(app *spec.App, failFast bool) *policy {
	p := &policy{app: app, failFast: failFast}
	p.byKey, p.byRole = map[spec.Replica]*replica{}, map[*spec.Role][]*replica{}
	p.orders, p.roleRestarts = ordersOf(app), map[*spec.Role]*int{}
	for i := range app.Roles {
		role := &app.Roles[i]
		p.roleRestarts[role] = new(int)
		for id := range role.NumReplicas {
			r := &replica{key: spec.Replica{Role: role.Name, ID: id}, role: role, state: spec.Pending}
			p.replicas = append(p.replicas, r)
			p.byKey[r.key] = r
			p.byRole[role] = append(p.byRole[role], r)
		}
	}
	return p
}

// startAll returns the first start of every replica.
func (p *policy) startAll() (acts []action) {
	for _, r := range p.replicas {
		acts = append(acts, action{start: r})
	}
	return acts
}

// canStart reports whether a requested start is still wanted.
func (p *policy) canStart(r *replica, attempt int) bool {
	return !p.isEnding() && r.state == spec.Pending && r.nextAttempt == attempt && (!p.cannotSucceed || !p.failFast)
}

// noteStarted records that an attempt has started.
func (p *policy) noteStarted(r *replica, process Process, now time.Time) {
	p.countRestart(r)
	r.state, r.blocked, r.admitted = spec.Running, false, false
	r.lastAttempt = lastAttempt{attempt: r.nextAttempt, hasStarted: true, process: process, startedAt: &now, stopping: r.stopping}
	p.startedAt = outcome.Earlier(p.startedAt, &now)
}

// noteRefused records that a replica can never start: the app ends, even with retries left.
func (p *policy) noteRefused(r *replica, code int, msg string, now time.Time) []action {
	p.countRestart(r)
	r.attempt, r.startedAt = r.nextAttempt, nil
	r.end(spec.Failed, code, "", now)
	r.msg = msg
	p.noteFailure(r)
	p.giveUp(r.role)
	return p.stopAll(now)
}

// noteExited records the exit of an attempt and returns the resulting actions.
func (p *policy) noteExited(r *replica, e Exit) (acts []action) {
	if r.state != spec.Running {
		return nil
	}
	if !r.stopping {
		r.msg = cmp.Or(r.killReason, e.Msg)
	}
	switch {
	case r.retired:
		r.endRetired(e.Code, e.Time)
	case r.stopping:
		r.end(spec.Cancelled, e.Code, e.Signal, e.Time)
	case e.Code == 0 && !e.Lost:
		r.end(spec.Succeeded, 0, "", e.Time)
	default:
		r.end(spec.Failed, e.Code, e.Signal, e.Time)
		acts = p.handleFailure(r, e)
	}
	return slices.Concat(acts, p.startRestartGroups(), p.startUnblocked(e.Time), p.endSidecars(e.Time))
}

// handleFailure applies the role's retry policy. If the replica failed for good, it decides
// whether the app did.
func (p *policy) handleFailure(r *replica, e Exit) []action {
	if !e.Overran || p.orders[r.role].RetryOnTimeout {
		if acts, retried := p.retry(r, e.Lost); retried {
			return acts
		}
	}
	p.noteFailure(r)
	if p.countAlive(r.role) >= requiredReplicas(r.role) {
		return nil
	}
	p.giveUp(r.role)
	if !p.failFast {
		return nil
	}
	return p.stopAll(e.Time)
}

// giveUp records that a role, and so the app, has failed.
func (p *policy) giveUp(role *spec.Role) {
	p.cannotSucceed = true
	p.sidecarFailed = p.sidecarFailed || p.orders[role].Sidecar
}

func (r *replica) end(s spec.State, code int, signal string, now time.Time) {
	r.state, r.exitCode, r.signal, r.finishedAt, r.stopping = s, &code, signal, &now, false
}

func (p *policy) noteFailure(r *replica) {
	if p.firstFailure == nil {
		s := r.status()
		p.firstFailure = &s
	}
}

// cancel cancels the app.
func (p *policy) cancel(now time.Time) []action {
	if p.cancelled {
		return nil
	}
	p.cancelled = true
	return p.stopAll(now)
}

// stopAll drops all restarts, stops running replicas and cancels pending ones.
func (p *policy) stopAll(now time.Time) (acts []action) {
	p.restartGroups = nil
	for _, r := range p.replicas {
		acts = append(acts, r.stop()...)
		if r.state == spec.Pending {
			p.cancelPending(r, now)
		}
	}
	return acts
}

// stop returns the action that stops the replica if it runs.
func (r *replica) stop() []action {
	if r.state != spec.Running || r.stopping {
		return nil
	}
	r.stopping = true
	return []action{{stop: r}}
}

// isDone reports whether no replica runs or will run.
func (p *policy) isDone() bool {
	ended := func(r *replica) bool { return r.state.Terminal() }
	return count(p.replicas, ended) == len(p.replicas) && len(p.restartGroups) == 0
}

func count(replicas []*replica, is func(*replica) bool) (n int) {
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
func (p *policy) countAlive(role *spec.Role) int {
	return count(p.byRole[role], func(r *replica) bool { return r.state != spec.Failed && r.state != spec.Cancelled })
}
