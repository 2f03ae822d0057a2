package agent

import (
	"cmp"
	"fmt"
	"time"

	"torchx/runtime/spec"
)

// Back-off before a restart: doubling from backoffFirst to backoffMax (the figures of
// Docker's restart policy), shorter or longer by up to backoffJitter (nomad's figure) so
// that apps that failed together do not restart together.
const (
	backoffFirst  = 100 * time.Millisecond
	backoffMax    = time.Minute
	backoffJitter = 0.25
)

// policy decides when replicas start, stop and restart, as a pure state machine: it is
// told what happened and answers what to do. It knows no clock, process or file, so that
// reconcile can replay an app's journal through it.
type policy struct {
	app         *spec.App
	failFast    bool
	queueReason string         // why nothing has started yet
	random      func() float64 // in [0, 1), spreads back-offs; nil: no jitter

	roster
	restartCounts
	outcome
}

// roster has the replicas of an app.
type roster struct {
	replicas []*replica // in the order of the app's roles
	byKey    map[spec.Replica]*replica
	byRole   map[*spec.Role][]*replica
	orders   map[*spec.Role]spec.Order // of the roles that have one
}

// restartCounts says what was restarted and what will be.
type restartCounts struct {
	restarts      int // restarts that happened
	appRestarts   int
	roleRestarts  map[string]*int
	restartGroups []*restartGroup      // that wait for their replicas to end
	pastAttempts  []spec.ReplicaStatus // attempts that were followed by another
}

// outcome is what decides how the app ends.
type outcome struct {
	startedAt     *time.Time
	cancelled     bool
	cannotSucceed bool
	firstFailed   *replica // failed first for good
	firstFailure  spec.ReplicaStatus
}

// replica is one replica of a role.
type replica struct {
	key     spec.Replica
	role    *spec.Role
	devices []string   // assigned to it alone
	state   spec.State // Pending (to be started), Running or terminal

	nextStart
	lastAttempt
}

// nextStart is the start that a pending replica waits for.
type nextStart struct {
	nextAttempt  int           // the one to be started, or that runs
	restartGroup *restartGroup // that the start belongs to; nil: it is the first one
	blocked      bool          // its role waits for another
	restarts     int
}

// lastAttempt is the last attempt that has begun.
type lastAttempt struct {
	attempt    int
	hasStarted bool
	process    Process
	startedAt  *time.Time
	ready      bool   // it has passed its probe
	stopping   bool   // told to end by the policy
	killReason string // why it had to end: not ready in time, or killed for its memory
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
	counted  bool // one of its starts has happened
}

// action is what the gang wants done: exactly one of start and stop is set.
type action struct {
	start *replica
	delay time.Duration // before start
	stop  *replica
}

func newPolicy(app *spec.App, failFast bool) *policy {
	p := &policy{app: app, failFast: failFast}
	p.byKey, p.byRole = map[spec.Replica]*replica{}, map[*spec.Role][]*replica{}
	p.orders, p.roleRestarts = ordersOf(app), map[string]*int{}
	for i := range app.Roles {
		role := &app.Roles[i]
		for id := range role.NumReplicas {
			r := &replica{key: spec.Replica{Role: role.Name, ID: id}, role: role, state: spec.Pending}
			p.replicas = append(p.replicas, r)
			p.byKey[r.key] = r
			p.byRole[role] = append(p.byRole[role], r)
		}
	}
	return p
}

// begin asks for the first start of every replica.
func (p *policy) startAll() []action {
	var acts []action
	for _, r := range p.replicas {
		acts = append(acts, action{start: r})
	}
	return acts
}

// canStart reports whether a start that was asked for is still wanted.
func (p *policy) canStart(r *replica, attempt int) bool {
	return !p.cancelled && r.state == spec.Pending && r.nextAttempt == attempt && (!p.cannotSucceed || !p.failFast)
}

// running notes that an attempt has begun.
func (g *policy) noteStarted(r *replica, p Process, now time.Time) {
	r.result = result{}
	g.countRestart(r)
	r.state, r.hasStarted, r.attempt, r.process, r.startedAt = spec.Running, true, r.nextAttempt, p, &now
	r.blocked, r.ready, r.killReason = false, false, ""
	g.startedAt = earliest(g.startedAt, &now)
}

// count counts the restart that a start belongs to, once: one that was cancelled
// before did not happen.
func (p *policy) countRestart(r *replica) {
	if r.restartGroup != nil && !r.restartGroup.counted {
		r.restartGroup.counted = true
		p.restarts++
	}
	r.restartGroup = nil
}

// refused notes that a replica can never start: the app ends, retries or not.
func (p *policy) noteRefused(r *replica, code int, msg string, now time.Time) []action {
	p.countRestart(r)
	r.attempt, r.startedAt = r.nextAttempt, nil
	r.end(spec.Failed, code, "", now)
	r.msg = msg
	p.noteFailure(r)
	p.cannotSucceed = true
	p.restartGroups = nil
	return p.stopAll(now)
}

// exited notes the end of an attempt and answers what follows from it.
func (p *policy) noteExited(r *replica, e Exit) []action {
	if r.state != spec.Running {
		return nil
	}
	acts := p.handleExit(r, e)
	return append(acts, p.startUnblocked(e.Time)...)
}

func (p *policy) handleExit(r *replica, e Exit) []action {
	now := e.Time
	if !r.stopping {
		r.msg = cmp.Or(r.killReason, e.Msg)
	}
	switch {
	case r.stopping:
		r.end(spec.Cancelled, e.Code, e.Signal, now)
	case e.Code == 0 && !e.Lost:
		r.end(spec.Succeeded, 0, "", now)
	default:
		r.end(spec.Failed, e.Code, e.Signal, now)
		if acts, retried := p.retry(r, e.Lost); retried {
			return append(acts, p.startRestartGroups()...)
		}
		return append(p.failForGood(r, now), p.startRestartGroups()...)
	}
	return p.startRestartGroups()
}

func (r *replica) end(s spec.State, code int, signal string, now time.Time) {
	r.state, r.exitCode, r.signal, r.finishedAt, r.stopping = s, &code, signal, &now, false
}

// retry starts what the role's policy says, if its budget allows. One that was
// lost costs nothing of the budget, but its role must have one.
func (p *policy) retry(r *replica, lost bool) (acts []action, retried bool) {
	if p.cancelled || p.cannotSucceed || p.inRestartGroup(r) {
		return nil, p.inRestartGroup(r)
	}
	var spent *int
	var replicas []*replica
	switch r.role.RetryPolicy {
	case spec.RetryReplica:
		spent, replicas = &r.restarts, []*replica{r}
	case spec.RetryRole:
		spent, replicas = p.roleRestartCount(r.role), p.replicasOf(r.role)
	default:
		spent, replicas = &p.appRestarts, p.replicas
	}
	if r.role.RetryPolicy != spec.RetryReplica && p.hasEnough(r.role) {
		return nil, false
	}
	switch {
	case lost && r.role.MaxRetries > 0:
		return p.restart(replicas, 1), true
	case *spent >= r.role.MaxRetries:
		return nil, false
	}
	*spent++
	return p.restart(replicas, *spent), true
}

func (p *policy) roleRestartCount(role *spec.Role) *int {
	if p.roleRestarts[role.Name] == nil {
		p.roleRestarts[role.Name] = new(int)
	}
	return p.roleRestarts[role.Name]
}

// enough reports whether an elastic role can go on without those that failed:
// then nothing is torn down for the sake of a restart.
func (p *policy) hasEnough(role *spec.Role) bool {
	return role.MinReplicas != nil && p.countAlive(role) >= requiredReplicas(role)
}

// restart stops what runs of the members and has all of them started again.
func (p *policy) restart(replicas []*replica, nth int) (acts []action) {
	var kept []*restartGroup
	for _, group := range p.restartGroups {
		if !overlaps(group.replicas, replicas) {
			kept = append(kept, group)
		}
	}
	p.restartGroups = append(kept, &restartGroup{replicas: replicas, delay: p.backoff(nth)})
	for _, r := range replicas {
		if r.state == spec.Running && !r.stopping {
			r.stopping = true
			acts = append(acts, action{stop: r})
		}
	}
	return acts
}

// restartable starts the scopes all of whose replicas have ended.
func (p *policy) startRestartGroups() (acts []action) {
	var waiting []*restartGroup
	for _, group := range p.restartGroups {
		if anyRunning(group.replicas) {
			waiting = append(waiting, group)
			continue
		}
		for _, r := range group.replicas {
			if r.hasStarted { // else it still waits for the start it was promised
				p.pastAttempts = append(p.pastAttempts, r.status())
				r.nextAttempt, r.hasStarted = r.attempt+1, false
				r.result = result{}
			}
			r.state, r.blocked, r.restartGroup = spec.Pending, false, group
			acts = append(acts, action{start: r, delay: group.delay})
		}
	}
	p.restartGroups = waiting
	return acts
}

// failed handles a replica that failed for good.
func (p *policy) failForGood(r *replica, now time.Time) []action {
	p.noteFailure(r)
	if p.countAlive(r.role) >= requiredReplicas(r.role) {
		return nil
	}
	p.cannotSucceed = true
	if !p.failFast {
		return nil
	}
	p.restartGroups = nil
	return p.stopAll(now)
}

func (p *policy) noteFailure(r *replica) {
	if p.firstFailed == nil {
		p.firstFailed, p.firstFailure = r, r.status()
	}
}

// cancel ends everything.
func (p *policy) cancel(now time.Time) []action {
	if p.cancelled {
		return nil
	}
	p.cancelled = true
	p.restartGroups = nil
	return p.stopAll(now)
}

// stopAll stops what runs; what waits for a start is cancelled at once.
func (p *policy) stopAll(now time.Time) (acts []action) {
	for _, r := range p.replicas {
		switch {
		case r.state == spec.Running && !r.stopping:
			r.stopping = true
			acts = append(acts, action{stop: r})
		case r.state == spec.Pending:
			p.cancelPending(r, now)
		}
	}
	return acts
}

// done reports whether nothing runs and nothing will.
func (p *policy) isDone() bool {
	for _, r := range p.replicas {
		if !r.state.Terminal() {
			return false
		}
	}
	return len(p.restartGroups) == 0
}

// result is the state and exit code of an app that is done.
func (p *policy) result() (spec.State, int) {
	ok := true
	for i := range p.app.Roles {
		role := &p.app.Roles[i]
		n := 0
		for _, r := range p.replicasOf(role) {
			if r.state == spec.Succeeded {
				n++
			}
		}
		ok = ok && n >= requiredReplicas(role)
	}
	switch {
	case ok:
		return spec.Succeeded, 0
	case p.cancelled && (!p.cannotSucceed || !p.failFast):
		return spec.Cancelled, 130
	case p.firstFailed != nil && p.firstFailure.ExitCode != nil && *p.firstFailure.ExitCode != 0:
		return spec.Failed, *p.firstFailure.ExitCode
	}
	return spec.Failed, 125
}

// needed is how many replicas of a role must succeed.
func requiredReplicas(role *spec.Role) int {
	if role.MinReplicas == nil {
		return role.NumReplicas
	}
	return min(max(*role.MinReplicas, 0), role.NumReplicas)
}

// alive counts the replicas of a role that succeeded or still may.
func (p *policy) countAlive(role *spec.Role) (n int) {
	for _, r := range p.replicasOf(role) {
		if r.state != spec.Failed && r.state != spec.Cancelled {
			n++
		}
	}
	return n
}

func (p *policy) replicasOf(role *spec.Role) []*replica { return p.byRole[role] }

func (p *policy) inRestartGroup(r *replica) bool {
	for _, group := range p.restartGroups {
		if overlaps(group.replicas, []*replica{r}) {
			return true
		}
	}
	return false
}

func overlaps(a, b []*replica) bool {
	in := make(map[*replica]bool, len(a))
	for _, r := range a {
		in[r] = true
	}
	for _, r := range b {
		if in[r] {
			return true
		}
	}
	return false
}

func anyRunning(replicas []*replica) bool {
	for _, r := range replicas {
		if r.state == spec.Running {
			return true
		}
	}
	return false
}

// backoff returns the wait before the n-th restart, from 1, with jitter.
func (p *policy) backoff(n int) time.Duration {
	d := backoffFirst
	for range n - 1 {
		d = min(2*d, backoffMax)
	}
	if p.random == nil {
		return d
	}
	return time.Duration(float64(d) * (1 - backoffJitter + 2*backoffJitter*p.random()))
}

// describe says in one line why the app failed.
func (p *policy) describe() string {
	f := &p.firstFailure
	if p.firstFailed == nil {
		return p.queueReason
	}
	if f.Msg != "" && f.StartedAt != nil {
		return fmt.Sprintf("replica %s/%d failed first: %s", f.Role, f.ID, f.Msg)
	}
	if f.StartedAt == nil {
		return fmt.Sprintf("replica %s/%d could not start: %s", f.Role, f.ID, f.Msg)
	}
	how := fmt.Sprintf("exit code %d", *f.ExitCode)
	if f.Signal != "" {
		how = "signal " + f.Signal
	}
	return fmt.Sprintf("replica %s/%d failed first with %s", f.Role, f.ID, how)
}
