package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"torchx/backends/driver"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

const (
	// memoryLimit bounds the memory of Go in bytes: the controller must stay small. With 10 MiB
	// it collects all the time.
	memoryLimit = 13 << 20
	// publishEvery bounds how often the status is replaced.
	publishEvery = 100 * time.Millisecond
	// deletedEvery is how often the controller checks that its folder still exists.
	deletedEvery = 5 * time.Second
	// defaultParallel is the number of trials at the same time on a backend of unknown size.
	defaultParallel = 4
	// submitsAtOnce bounds the submissions at the same time: each starts an agent, or talks to
	// a server.
	submitsAtOnce = 4
)

// controller runs the trials of one sweep. Only its loop touches the machine and the journal;
// goroutines post what they did.
type controller struct {
	*agent.Controller
	def      *sweep.Definition
	machine  *sweep.Machine
	trials   *trialFile
	journal  *journal
	run      *driver.Runner
	target   backend.Backend
	capacity backend.Capacity
	watcher  *watcher // nil: no metrics are followed

	events      chan func()
	slots       chan struct{} // of submissions
	collections chan struct{} // of metrics
	closed      chan struct{} // the loop has ended
	waits       backoff       // after refusals
	force       bool          // kill instead of terminate
	cancels     map[int]bool  // trials whose cancellation is under way
	dirty       bool
	written     time.Time
}

// control runs the sweep of a bundle to its end.
func control(a *agent.Controller, p driver.Program) (err error) {
	debug.SetMemoryLimit(memoryLimit)
	c := &controller{
		Controller: a, events: make(chan func()), slots: make(chan struct{}, submitsAtOnce), collections: make(chan struct{}, submitsAtOnce), closed: make(chan struct{}),
		cancels: map[int]bool{},
	}
	if err := c.open(p); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	debug.FreeOSMemory() // what reading the sweep needed
	c.Ready()
	c.resume()
	if c.watcher != nil {
		c.watcher.start()
	}
	for !c.machine.Done() {
		if detached := c.step(); detached {
			return c.publish()
		}
	}
	close(c.closed)
	return c.Finish(c.result())
}

func (c *controller) open(p driver.Program) error {
	ctx := context.Background()
	l, err := load(c.Bundle, 1)
	if err != nil {
		return err
	}
	c.def = l.def
	if c.trials, err = openTrials(c.Dir); err != nil {
		return err
	}
	if c.journal, err = openJournal(c.Dir); err != nil {
		return errors.Join(err, c.trials.Close())
	}
	c.run, err = p.OpenRunner(ctx, driver.RunnerOptions{
		Home: c.Home, Dir: c.def.Source.Cwd, Environ: c.environ(), Warn: func(line string) { c.Log.Print(line) },
	})
	if err == nil {
		c.target, err = c.run.Backends.Get(c.def.Backend)
	}
	if err == nil {
		c.watcher, err = newWatcher(c.def.Rules, c.Log)
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	c.capacity = c.findCapacity(ctx)
	cfg := sweep.MachineConfig{Trials: c.App.Roles[0].NumReplicas, Parallel: c.capacity.Apps, FailFast: c.def.FailFast}
	c.machine = sweep.NewMachine(cfg)
	return replay(c.Dir, c.machine)
}

// environ is that of the command that submitted the sweep, without what identifies the parent of
// its apps: the sweep is the parent of the trials.
func (c *controller) environ() []string {
	return slices.DeleteFunc(slices.Clone([]string(c.Environ)), func(kv string) bool {
		return strings.HasPrefix(kv, "TORCHX_PARENT_RUN_ID=")
	})
}

func (c *controller) close() error {
	var errs []error
	if c.watcher != nil {
		c.watcher.close()
	}
	if c.run != nil {
		errs = append(errs, c.run.Close())
	}
	return errors.Join(append(errs, c.journal.Close(), c.trials.Close())...)
}

// step acts on what is due, then waits for one event. detached means that the controller ends
// but the sweep does not.
func (c *controller) step() (detached bool) {
	actions, wake := c.machine.Next(time.Now())
	if len(actions) > 0 {
		c.perform(actions)
		return false
	}
	timer := time.NewTimer(deletedEvery)
	defer timer.Stop()
	if !wake.IsZero() {
		timer.Reset(min(deletedEvery, time.Until(wake)))
	}
	if c.dirty {
		timer.Reset(publishEvery)
	}
	select {
	case f := <-c.events:
		f()
	case v := <-c.verdicts():
		c.follow(v)
	case <-c.Signals:
		return c.handleSignal()
	case <-timer.C:
		if c.Deleted() {
			c.halt(sweep.ByUser, "the sweep's folder was deleted")
		}
	}
	if c.dirty && time.Since(c.written) >= publishEvery {
		c.logError(c.publish())
	}
	return false
}

// post passes f to the loop, unless that has ended.
func (c *controller) post(f func()) {
	select {
	case c.events <- f:
	case <-c.closed:
	}
}

// apply records an event and changes the machine by it. sync makes it survive a power cut.
func (c *controller) apply(sync bool, events ...sweep.Event) {
	for i := range events {
		if events[i].Time.IsZero() {
			events[i].Time = c.Now()
		}
	}
	c.logError(c.journal.append(sync, events...))
	for _, e := range events {
		c.logError(c.machine.Apply(e))
	}
	c.dirty = true
}

// handleSignal reacts to a cancel request. Without one the controller ends: perhaps the machine
// shuts down, and trials may run on without it.
func (c *controller) handleSignal() (detached bool) {
	cancelled, force := c.Cancelled()
	switch {
	case cancelled:
		c.cancel(force)
	case c.Deleted():
		c.halt(sweep.ByUser, "the sweep's folder was deleted")
	default:
		return true
	}
	return false
}

func (c *controller) cancel(force bool) {
	if force && !c.force {
		c.force = true
		clear(c.cancels) // again, with force
		for n := range c.machine.Trials() {
			c.stopIfDue(n)
		}
	}
	if cause, _ := c.machine.Halted(); cause != sweep.ByUser {
		c.halt(sweep.ByUser, "the sweep was canceled")
	}
}

func (c *controller) halt(cause sweep.Cause, reason string) {
	if was, _ := c.machine.Halted(); was == cause {
		return
	}
	c.apply(true, sweep.Event{Kind: sweep.Halt, Cause: cause, Msg: reason})
}

// verdicts is nil, which is never ready, if no metrics are followed.
func (c *controller) verdicts() <-chan verdict {
	if c.watcher == nil {
		return nil
	}
	return c.watcher.verdicts
}

// follow acts on a verdict. A trial that has ended meanwhile is left alone.
func (c *controller) follow(v verdict) {
	t := &c.machine.Trials()[v.Trial]
	switch {
	case v.Done:
		c.halt(sweep.ByGoal, v.Reason)
	case t.Phase == sweep.Starting || t.Phase == sweep.Running:
		c.stop(v.Trial, v.Reason)
	}
}

// ref returns the key of a trial's app.
func (c *controller) ref(n int) history.AppKey {
	return history.AppKey{Backend: c.def.Backend, ID: c.machine.Trials()[n].App}
}

func (c *controller) logError(err error) {
	if err != nil {
		c.Log.Print(err)
	}
}

// publish writes the status of a sweep that runs.
func (c *controller) publish() error {
	c.dirty, c.written = false, time.Now()
	return c.Publish(c.status())
}

// status returns the status without the trials, which readers take from the journal.
func (c *controller) status() *spec.Status {
	url := "file://" + c.Dir
	s := &spec.Status{Handle: c.Handle, State: spec.Pending, UIURL: &url, SubmittedAt: &c.SubmittedAt, Roles: []spec.RoleStatus{}}
	addProgress(s, c.machine)
	return s
}

// addProgress completes the status of a sweep that has not ended by its trials.
func addProgress(s *spec.Status, m *sweep.Machine) {
	var first time.Time
	all := m.Trials()
	for i := range all {
		if began := all[i].Began; !began.IsZero() && (first.IsZero() || began.Before(first)) {
			first = began
		}
	}
	if !first.IsZero() {
		s.State, s.StartedAt = spec.Running, &first
	}
	counts := sweep.Snapshot{Counts: m.Count()}
	s.Msg = counts.Progress()
}

// result returns the final status.
func (c *controller) result() *spec.Status {
	s := c.status()
	now := c.Now()
	state, code, failed := c.machine.Result()
	s.State, s.ExitCode, s.FinishedAt = state, code, &now
	switch {
	case state == spec.Cancelled:
		s.ExitCode, s.Msg = new(spec.ExitCancelled), "cancelled"
	case failed >= 0:
		if code == nil || *code == 0 {
			s.ExitCode = new(spec.ExitNotStarted)
		}
		t := &c.machine.Trials()[failed]
		first := replicaOf(failed, t)
		s.FirstFailure = &first
		s.Msg = fmt.Sprintf("trial %d failed first: %s", failed, howItEnded(t))
	default:
		_, s.Msg = c.machine.Halted()
	}
	return s
}

// howItEnded describes the end of a trial that failed: "exit code 3, replica b/0".
func howItEnded(t *sweep.TrialState) string {
	how := ""
	if t.Code != nil && *t.Code != 0 {
		how = fmt.Sprintf("exit code %d", *t.Code)
	}
	if how != "" && t.Msg != "" {
		how += ", "
	}
	return cmp.Or(how+t.Msg, "exit code not known")
}
