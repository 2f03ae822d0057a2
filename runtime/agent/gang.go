package agent

import (
	"cmp"
	"fmt"
	"time"

	"torchx/runtime/spec"
)

// Back-off before a restart: doubling from backoffFirst to backoffMax (the
// figures of Docker's restart policy).
const (
	backoffFirst = 100 * time.Millisecond
	backoffMax   = time.Minute
)

// gang is the policy of one app as a pure state machine: it is told what
// happened and answers what to do. It knows no clock, process or file, so that
// reconcile can replay an app's journal through it.
type gang struct {
	app      *spec.App
	failFast bool
	note     string // why nothing has started yet

	replicas []*member // in the order of the app's roles
	byKey    map[spec.Replica]*member
	byRole   map[*spec.Role][]*member
	orders   map[*spec.Role]spec.Order // of the roles that have one

	cancelled    bool
	doomed       bool // the app can no longer succeed
	restarts     int  // restarts that happened
	appRestarts  int
	roleRestarts map[string]*int
	began        *time.Time
	past         []spec.ReplicaStatus // attempts that were followed by another
	scopes       []*scope             // restarts that wait for their replicas to end
	first        *member              // failed first for good
	firstStatus  spec.ReplicaStatus
}

// member is one replica.
type member struct {
	key      spec.Replica
	role     *spec.Role
	attempt  int  // the last one that has begun
	next     int  // the one to be started, or that runs
	begun    bool // attempt has started
	restarts int
	state    spec.State // Pending (to be started), Running or terminal
	stopping bool       // told to end by us
	restart  *scope     // what the start belongs to that is wanted; nil: it is the first one
	held     bool       // to be started, but its role waits for another
	ready    bool       // the attempt has passed its probe
	overdue  string     // why the attempt had to end: it was not ready in time, or was killed for its memory
	code     *int
	signal   string
	msg      string
	started  *time.Time
	finished *time.Time
	process  Process
	errFile  []byte
	usage    *Usage
	devices  []string // it has to itself
}

// scope is a set of replicas that restart together once all have ended.
type scope struct {
	members []*member
	delay   time.Duration
	counted bool // one of its starts has happened
}

// action is what the gang wants done: exactly one of start and stop is set.
type action struct {
	start *member
	delay time.Duration // before start
	stop  *member
}

func newGang(app *spec.App, failFast bool) *gang {
	g := &gang{app: app, failFast: failFast, byKey: map[spec.Replica]*member{}, roleRestarts: map[string]*int{}}
	g.byRole, g.orders = map[*spec.Role][]*member{}, ordersOf(app)
	for i := range app.Roles {
		role := &app.Roles[i]
		for id := range role.NumReplicas {
			m := &member{key: spec.Replica{Role: role.Name, ID: id}, role: role, state: spec.Pending}
			g.replicas = append(g.replicas, m)
			g.byKey[m.key] = m
			g.byRole[role] = append(g.byRole[role], m)
		}
	}
	return g
}

// begin asks for the first start of every replica.
func (g *gang) begin() []action {
	var acts []action
	for _, m := range g.replicas {
		acts = append(acts, action{start: m})
	}
	return acts
}

// canStart reports whether a start that was asked for is still wanted.
func (g *gang) canStart(m *member, attempt int) bool {
	return !g.cancelled && m.state == spec.Pending && m.next == attempt && (!g.doomed || !g.failFast)
}

// running notes that an attempt has begun.
func (g *gang) running(m *member, p Process, now time.Time) {
	m.forget()
	g.count(m)
	m.state, m.begun, m.attempt, m.process, m.started = spec.Running, true, m.next, p, &now
	m.held, m.ready, m.overdue = false, false, ""
	g.began = earliest(g.began, &now)
}

// count counts the restart that a start belongs to, once: one that was cancelled
// before did not happen.
func (g *gang) count(m *member) {
	if m.restart != nil && !m.restart.counted {
		m.restart.counted = true
		g.restarts++
	}
	m.restart = nil
}

// forget is for an attempt that is over and will be followed by another.
func (m *member) forget() {
	m.code, m.signal, m.finished, m.msg, m.errFile, m.usage = nil, "", nil, "", nil, nil
}

// refused notes that a replica can never start: the app ends, retries or not.
func (g *gang) refused(m *member, code int, msg string, now time.Time) []action {
	g.count(m)
	m.attempt, m.started = m.next, nil
	m.end(spec.Failed, code, "", now)
	m.msg = msg
	g.noteFailure(m)
	g.doomed = true
	g.scopes = nil
	return g.stopAll(now)
}

// exited notes the end of an attempt and answers what follows from it.
func (g *gang) exited(m *member, e Exit) []action {
	if m.state != spec.Running {
		return nil
	}
	acts := g.ended(m, e)
	return append(acts, g.unblocked(e.Time)...)
}

func (g *gang) ended(m *member, e Exit) []action {
	now := e.Time
	if !m.stopping {
		m.msg = cmp.Or(m.overdue, e.Msg)
	}
	switch {
	case m.stopping:
		m.end(spec.Cancelled, e.Code, e.Signal, now)
	case e.Code == 0 && !e.Lost:
		m.end(spec.Succeeded, 0, "", now)
	default:
		m.end(spec.Failed, e.Code, e.Signal, now)
		if acts, retried := g.retry(m, e.Lost); retried {
			return append(acts, g.restartable()...)
		}
		return append(g.failed(m, now), g.restartable()...)
	}
	return g.restartable()
}

func (m *member) end(s spec.State, code int, signal string, now time.Time) {
	m.state, m.code, m.signal, m.finished, m.stopping = s, &code, signal, &now, false
}

// retry starts what the role's policy says, if its budget allows. One that was
// lost costs nothing of the budget, but its role must have one.
func (g *gang) retry(m *member, lost bool) (acts []action, retried bool) {
	if g.cancelled || g.doomed || g.inScope(m) {
		return nil, g.inScope(m)
	}
	var spent *int
	var members []*member
	switch m.role.RetryPolicy {
	case spec.RetryReplica:
		spent, members = &m.restarts, []*member{m}
	case spec.RetryRole:
		spent, members = g.roleSpent(m.role), g.membersOf(m.role)
	default:
		spent, members = &g.appRestarts, g.replicas
	}
	if m.role.RetryPolicy != spec.RetryReplica && g.enough(m.role) {
		return nil, false
	}
	switch {
	case lost && m.role.MaxRetries > 0:
		return g.restart(members, 1), true
	case *spent >= m.role.MaxRetries:
		return nil, false
	}
	*spent++
	return g.restart(members, *spent), true
}

func (g *gang) roleSpent(role *spec.Role) *int {
	if g.roleRestarts[role.Name] == nil {
		g.roleRestarts[role.Name] = new(int)
	}
	return g.roleRestarts[role.Name]
}

// enough reports whether an elastic role can go on without those that failed:
// then nothing is torn down for the sake of a restart.
func (g *gang) enough(role *spec.Role) bool {
	return role.MinReplicas != nil && g.alive(role) >= needed(role)
}

// restart stops what runs of the members and has all of them started again.
func (g *gang) restart(members []*member, nth int) (acts []action) {
	var kept []*scope
	for _, s := range g.scopes {
		if !overlaps(s.members, members) {
			kept = append(kept, s)
		}
	}
	g.scopes = append(kept, &scope{members: members, delay: backoff(nth)})
	for _, m := range members {
		if m.state == spec.Running && !m.stopping {
			m.stopping = true
			acts = append(acts, action{stop: m})
		}
	}
	return acts
}

// restartable starts the scopes all of whose replicas have ended.
func (g *gang) restartable() (acts []action) {
	var waiting []*scope
	for _, s := range g.scopes {
		if anyRunning(s.members) {
			waiting = append(waiting, s)
			continue
		}
		for _, m := range s.members {
			if m.begun { // else it still waits for the start it was promised
				g.past = append(g.past, m.status())
				m.next, m.begun = m.attempt+1, false
				m.forget()
			}
			m.state, m.held, m.restart = spec.Pending, false, s
			acts = append(acts, action{start: m, delay: s.delay})
		}
	}
	g.scopes = waiting
	return acts
}

// failed handles a replica that failed for good.
func (g *gang) failed(m *member, now time.Time) []action {
	g.noteFailure(m)
	if g.alive(m.role) >= needed(m.role) {
		return nil
	}
	g.doomed = true
	if !g.failFast {
		return nil
	}
	g.scopes = nil
	return g.stopAll(now)
}

func (g *gang) noteFailure(m *member) {
	if g.first == nil {
		g.first, g.firstStatus = m, m.status()
	}
}

// cancel ends everything.
func (g *gang) cancel(now time.Time) []action {
	if g.cancelled {
		return nil
	}
	g.cancelled = true
	g.scopes = nil
	return g.stopAll(now)
}

// stopAll stops what runs; what waits for a start is cancelled at once.
func (g *gang) stopAll(now time.Time) (acts []action) {
	for _, m := range g.replicas {
		switch {
		case m.state == spec.Running && !m.stopping:
			m.stopping = true
			acts = append(acts, action{stop: m})
		case m.state == spec.Pending:
			g.neverStarts(m, now)
		}
	}
	return acts
}

// done reports whether nothing runs and nothing will.
func (g *gang) done() bool {
	for _, m := range g.replicas {
		if !m.state.Terminal() {
			return false
		}
	}
	return len(g.scopes) == 0
}

// result is the state and exit code of an app that is done.
func (g *gang) result() (spec.State, int) {
	ok := true
	for i := range g.app.Roles {
		role := &g.app.Roles[i]
		n := 0
		for _, m := range g.membersOf(role) {
			if m.state == spec.Succeeded {
				n++
			}
		}
		ok = ok && n >= needed(role)
	}
	switch {
	case ok:
		return spec.Succeeded, 0
	case g.cancelled && (!g.doomed || !g.failFast):
		return spec.Cancelled, 130
	case g.first != nil && g.firstStatus.ExitCode != nil && *g.firstStatus.ExitCode != 0:
		return spec.Failed, *g.firstStatus.ExitCode
	}
	return spec.Failed, 125
}

// needed is how many replicas of a role must succeed.
func needed(role *spec.Role) int {
	if role.MinReplicas == nil {
		return role.NumReplicas
	}
	return min(max(*role.MinReplicas, 0), role.NumReplicas)
}

// alive counts the replicas of a role that succeeded or still may.
func (g *gang) alive(role *spec.Role) (n int) {
	for _, m := range g.membersOf(role) {
		if m.state != spec.Failed && m.state != spec.Cancelled {
			n++
		}
	}
	return n
}

func (g *gang) membersOf(role *spec.Role) []*member { return g.byRole[role] }

func (g *gang) inScope(m *member) bool {
	for _, s := range g.scopes {
		if overlaps(s.members, []*member{m}) {
			return true
		}
	}
	return false
}

func overlaps(a, b []*member) bool {
	in := make(map[*member]bool, len(a))
	for _, m := range a {
		in[m] = true
	}
	for _, m := range b {
		if in[m] {
			return true
		}
	}
	return false
}

func anyRunning(members []*member) bool {
	for _, m := range members {
		if m.state == spec.Running {
			return true
		}
	}
	return false
}

// backoff is the wait before the n-th restart, from 1.
func backoff(n int) time.Duration {
	d := backoffFirst
	for range n - 1 {
		if d *= 2; d >= backoffMax {
			return backoffMax
		}
	}
	return d
}

// describe says in one line why the app failed.
func (g *gang) describe() string {
	f := &g.firstStatus
	if g.first == nil {
		return g.note
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
