package membackend

import (
	"fmt"
	"sync"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// exitCancelled is the exit code of a canceled app.
const exitCancelled = 130

// app is one submitted app. mu guards the fields below it.
type app struct {
	id, name string
	request  *Request
	failFast bool
	grace    time.Duration

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced at every change
	status    spec.Status
	replicas  []*replica
	cancelled bool // by a user
	failing   bool // its replicas are being stopped because one failed
}

// replica is one replica with the logs of its attempts.
type replica struct {
	role    *RoleRequest
	request *ReplicaRequest
	status  spec.ReplicaStatus
	logs    [][]chunk // by attempt
	stopped bool      // by the backend: it ends as CANCELLED
	term    chan struct{}
	kill    chan struct{}
}

func newApp(p *backend.Plan, req *Request) *app {
	now := time.Now()
	a := &app{
		id: p.ID, name: p.App.Name, request: req, failFast: true, grace: seconds(defaultGrace), changed: make(chan struct{}),
		status: spec.Status{
			Handle: spec.Handle{Backend: Name, Session: spec.Session, AppID: p.ID}.String(),
			State:  spec.Submitted, SubmittedAt: &now,
		},
	}
	if v, ok := p.Cfg[keyFailFast].(bool); ok {
		a.failFast = v
	}
	if v, ok := p.Cfg[keyGracePeriod].(float64); ok {
		a.grace = seconds(v)
	}
	for i := range req.Roles {
		role := &req.Roles[i]
		for n := range role.Replicas {
			a.replicas = append(a.replicas, &replica{
				role: role, request: &role.Replicas[n],
				status: spec.ReplicaStatus{ID: n, Role: role.Name, State: spec.Submitted, Hostname: "localhost"},
				term:   make(chan struct{}), kill: make(chan struct{}),
			})
		}
	}
	return a
}

// start starts all replicas, or none if one cannot start.
func (a *app) start() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := programs()
	for _, r := range a.replicas {
		if known[r.request.Args[0]] == nil {
			return a.refuse(r)
		}
	}
	a.status.State, a.status.StartedAt = spec.Running, a.now()
	for _, r := range a.replicas {
		a.begin(r)
		go a.run(r, known[r.request.Args[0]])
	}
	a.notify()
	return nil
}

// refuse ends an app that cannot start.
func (a *app) refuse(r *replica) error {
	defer a.notify()
	const notFound = 127 // as in a shell
	err := fmt.Errorf("entry point %q of role %s not found: backend %s knows %v", r.request.Args[0], r.role.Name, Name, Programs())
	code := notFound
	r.status.State, r.status.ExitCode, r.status.Msg, r.status.FinishedAt = spec.Failed, &code, err.Error(), a.now()
	a.fail(r)
	for _, other := range a.replicas {
		if other != r {
			other.status.State = spec.Cancelled
		}
	}
	a.finish()
	return &backend.StartError{Code: notFound, Err: err}
}

// begin starts a new attempt.
func (a *app) begin(r *replica) {
	r.status.State, r.status.StartedAt = spec.Running, a.now()
	r.logs = append(r.logs, nil)
}

// run is the goroutine of one replica.
func (a *app) run(r *replica, main program) {
	for {
		p := &process{args: r.request.Args[1:], env: r.request.Env, write: a.writer(r), term: r.term, kill: r.kill}
		if !a.ended(r, main(p)) {
			return
		}
	}
}

// ended records the end of an attempt and reports whether another one started.
func (a *app) ended(r *replica, code int) (again bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.notify()
	if code != 0 && !r.stopped && r.status.Attempt < r.role.MaxRetries {
		r.status.Attempt++
		a.status.NumRestarts++
		a.begin(r)
		return true
	}
	r.status.ExitCode, r.status.Signal, r.status.FinishedAt = &code, signalName(code), a.now()
	switch {
	case r.stopped:
		r.status.State = spec.Cancelled
	case code == 0:
		r.status.State = spec.Succeeded
	default:
		r.status.State = spec.Failed
		a.fail(r)
	}
	if a.hasEnded() {
		a.finish()
	}
	return false
}

// fail records a final failure, and stops the others if the app can no longer succeed.
func (a *app) fail(r *replica) {
	if a.status.FirstFailure == nil {
		first := r.status
		a.status.FirstFailure = &first
	}
	if a.failFast && !a.hasEnough(r.role) {
		a.failing = true
		a.stop(false)
	}
}

// hasEnough reports whether at least min_replicas of the role run or succeeded.
func (a *app) hasEnough(role *RoleRequest) bool {
	good := 0
	for _, r := range a.replicas {
		if r.role == role && (r.status.State == spec.Running || r.status.State == spec.Succeeded) {
			good++
		}
	}
	return good >= role.MinReplicas
}

func (a *app) hasEnded() bool {
	for _, r := range a.replicas {
		if !r.status.State.Terminal() {
			return false
		}
	}
	return true
}

// finish sets the result of the app after the end of its last replica.
func (a *app) finish() {
	code, s := 0, &a.status
	s.State = spec.Succeeded
	for i := range a.request.Roles {
		if !a.hasEnough(&a.request.Roles[i]) {
			s.State = spec.Failed
		}
	}
	switch {
	case a.cancelled:
		s.State, code, s.Msg = spec.Cancelled, exitCancelled, "canceled"
	case s.State == spec.Failed:
		code = *s.FirstFailure.ExitCode
		s.Msg = fmt.Sprintf("replica %s/%d failed with exit code %d", s.FirstFailure.Role, s.FirstFailure.ID, code)
	}
	s.ExitCode, s.FinishedAt = &code, a.now()
}

// cancel stops the app on behalf of a user.
func (a *app) cancel(force bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status.State.Terminal() {
		return
	}
	a.cancelled = a.cancelled || !a.failing
	a.stop(force)
}

// stop asks all replicas to end and kills them after the grace period, or immediately with
// force. A second stop without force does nothing.
func (a *app) stop(force bool) {
	for _, r := range a.replicas {
		if r.status.State.Terminal() {
			continue
		}
		if !r.stopped {
			r.stopped = true
			close(r.term)
			time.AfterFunc(a.grace, func() { a.forceEnd(r) })
		}
		if force {
			r.forceEnd()
		}
	}
}

func (a *app) forceEnd(r *replica) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.forceEnd()
}

func (r *replica) forceEnd() {
	select {
	case <-r.kill:
	default:
		close(r.kill)
	}
}

// notify wakes all that wait for a change.
func (a *app) notify() {
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *app) now() *time.Time {
	t := time.Now()
	return &t
}

// snapshot returns a copy of the status and a channel that is closed when it changes.
func (a *app) snapshot() (*spec.Status, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.status
	for i := range a.request.Roles {
		s.Roles = append(s.Roles, spec.RoleStatus{Role: a.request.Roles[i].Name})
		for _, r := range a.replicas {
			if r.role == &a.request.Roles[i] {
				s.Roles[i].Replicas = append(s.Roles[i].Replicas, r.status)
			}
		}
	}
	return &s, a.changed
}

func (a *app) replica(which spec.Replica) *replica {
	for _, r := range a.replicas {
		if r.role.Name == which.Role && r.status.ID == which.ID {
			return r
		}
	}
	return nil
}

func (a *app) roleNames() []string {
	names := make([]string, len(a.request.Roles))
	for i := range names {
		names[i] = a.request.Roles[i].Name
	}
	return names
}
