package agent

import (
	"cmp"
	"errors"
	"io"
	"log"
	"os"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

const (
	// statusInterval bounds how often status.json is replaced while hundreds of replicas
	// start and end; the terminal status is always written immediately.
	statusInterval = 20 * time.Millisecond
	// refusedGrace is the grace period if a replica cannot start: the others have just
	// started and have nothing to save.
	refusedGrace = time.Second
	// exitBatch is the maximum number of exits recorded with one write.
	exitBatch = 1024
)

// agent is one run of the loop that drives an app. Only the loop's goroutine touches it.
type agent struct {
	bundle    Bundle
	manifest  *Manifest
	config    Config
	policy    *policy.Policy
	launcher  Launcher
	admission *admission         // nil: not needed
	metrics   *collect.Collector // nil: none are collected
	log       *log.Logger

	sampler *sampler
	network network
	events  events
	record  record
	reports reports
	ending  ending
}

// network holds what assigns and checks the ports of replicas.
type network struct {
	prober *prober
	ports  *ports
}

// events are the loop's inputs besides exits of replicas.
type events struct {
	signals        <-chan os.Signal
	pendingSignals int              // received while replicas were started
	conditions     <-chan Condition // of replicas; nil: the launcher reports none
	tasks          chan func()      // work of other goroutines for the loop
	checkDeleted   <-chan time.Time // when to check that the bundle still exists
	closed         chan struct{}    // the loop has ended
}

// record is what the bundle stores about the run.
type record struct {
	starts, exits *journal
	seq           int // of the last record in the journals
	clock         clock
	bootID        string
	reserve       *reserve
}

// reports are the destinations of the status.
type reports struct {
	submitter io.WriteCloser // waits for the first start; nil once answered
	recorder  *recorder
	dirty     bool // the status has changed since status.json was written
	written   time.Time
}

// ending holds what determines how the agent begins and ends.
type ending struct {
	grace         time.Duration
	isResuming    bool // a former agent of this bundle died
	detached      bool // asked to end without a cancel request: the next agent continues
	killNow       bool // kill instead of terminate
	bundleDeleted bool
	hasAppTimer   bool // the time limit of the app is watched
}

// run drives the app to its end and writes its terminal status.
func (a *agent) run() error {
	defer close(a.events.closed)
	failpoint.Hit(failpoint.AgentBegun)
	a.startMetrics()
	if a.ending.isResuming {
		a.reply(readyAnswer{OK: true})
		a.resume()
	} else {
		a.begin()
	}
	a.publish(true)
	if !a.policy.CannotSucceed && !a.ending.detached {
		a.reply(readyAnswer{OK: true})
	}
	for !a.policy.IsDone() && !a.ending.detached {
		a.step()
	}
	if a.ending.detached {
		return a.detach()
	}
	return a.finish()
}

// begin starts the app, unless it was canceled before the agent ran.
func (a *agent) begin() {
	a.reports.dirty = true
	if cancel, force := a.bundle.cancelRequested(); cancel {
		a.ending.killNow = force
		a.policy.Cancel(a.now())
		return
	}
	err := a.launcher.Check()
	if err == nil {
		err = a.makeOutput()
	}
	if err != nil {
		a.refuseStart(err)
		return
	}
	a.awaitApps()
}

// after posts f to the loop after a delay.
func (a *agent) after(d time.Duration, f func()) {
	time.AfterFunc(d, func() { a.post(f) })
}

// post passes f to the loop and waits until it is accepted.
func (a *agent) post(f func()) {
	select {
	case a.events.tasks <- f:
	case <-a.events.closed:
	}
}

// step waits for one event and acts on it.
func (a *agent) step() {
	if a.events.pendingSignals > 0 {
		a.events.pendingSignals = 0
		a.handleSignal()
		return
	}
	var flush <-chan time.Time
	if a.reports.dirty {
		flush = time.After(statusInterval)
	}
	select {
	case e := <-a.launcher.Exits():
		a.handleExits(e)
	case f := <-a.events.tasks:
		f()
	case c := <-a.events.conditions:
		a.noteCondition(c)
	case <-a.events.signals:
		a.handleSignal()
	case <-a.events.checkDeleted:
		if a.bundle.supervisor().Deleted() {
			a.handleDeleted()
		}
	case <-flush:
		a.publish(true)
	}
	a.publish(false)
}

// handleExits collects all pending exits, records them with one write, then lets the policy
// act.
func (a *agent) handleExits(first Exit) {
	batch := []Exit{first}
	for len(batch) < exitBatch {
		select {
		case e := <-a.launcher.Exits():
			batch = append(batch, e)
			continue
		default:
		}
		break
	}
	records := make([]any, len(batch))
	for i, e := range batch {
		r := a.policy.ByKey[e.Replica]
		e.Time = a.record.clock.at(e.Time)
		batch[i].Time = e.Time
		batch[i].Usage = a.sampler.end(e.Replica, e.Attempt, e.Usage)
		a.network.prober.stop(e.Replica)
		if r.KillReason != "" && !r.Stopping {
			batch[i].Code, batch[i].Signal, batch[i].Overran = spec.ExitDeadline, "", r.Overran
		}
		records[i] = exitRecord{
			Seq: a.nextSeq(), Time: e.Time, Role: e.Replica.Role, Replica: e.Replica.ID, Attempt: e.Attempt,
			Code: batch[i].Code, Signal: batch[i].Signal, Msg: cmp.Or(r.KillReason, e.Msg), Stopped: r.Stopping, Usage: batch[i].Usage, Lost: e.Lost,
			Overran: batch[i].Overran,
		}
	}
	failpoint.Hit(failpoint.Exited)
	a.recordExits(records)
	failpoint.Hit(failpoint.ExitRecorded)
	for _, e := range batch {
		r := a.policy.ByKey[e.Replica]
		r.ErrorFile, r.Usage = a.launcher.ErrorFile(e.Replica, e.Attempt), e.Usage
		a.perform(a.policy.NoteExited(r, e))
	}
	a.reports.dirty = true
}

// recordExits must not fail: on a full disk it uses the reserve.
func (a *agent) recordExits(records []any) {
	err := a.record.exits.append(records...)
	if err != nil && a.record.reserve.releaseExits() {
		a.logError(err)
		err = a.record.exits.append(records...)
	}
	a.logError(err)
}

// handleDeleted ends an app whose folder is gone: commands can no longer show or cancel
// it.
func (a *agent) handleDeleted() {
	a.ending.bundleDeleted, a.reports.dirty = true, true
	a.perform(a.policy.Cancel(a.now()))
}

// nextSeq numbers the records of both journals in order.
func (a *agent) nextSeq() int {
	a.record.seq++
	return a.record.seq
}

// refuseStart ends an app if one of its replicas cannot start.
func (a *agent) refuseStart(err error) {
	var r *ReplicaStartError
	if !errors.As(err, &r) {
		r = &ReplicaStartError{Replica: a.policy.Replicas[0].Key, Code: spec.ExitNotStarted, Err: err}
	}
	m := a.policy.ByKey[r.Replica]
	now := a.now()
	a.recordExits([]any{exitRecord{
		Seq: a.nextSeq(), Time: now, Role: m.Key.Role, Replica: m.Key.ID, Attempt: m.NextAttempt,
		Code: r.Code, Msg: r.Err.Error(), Refused: true,
	}})
	a.ending.grace = min(a.ending.grace, refusedGrace)
	a.perform(a.policy.NoteRefused(m, r.Code, r.Err.Error(), now))
	a.reports.dirty = true
}

// stop terminates a replica and kills it after the grace period.
func (a *agent) stop(r *policy.Replica) {
	if a.ending.killNow {
		a.launcher.Kill(r.Key)
		return
	}
	attempt := r.Attempt
	a.launcher.Terminate(r.Key)
	a.after(a.ending.grace, func() {
		if r.State == spec.Running && r.Attempt == attempt {
			a.launcher.Kill(r.Key)
		}
	})
}

// handleSignal handles a signal: cancel.json holds a request, or the agent itself was asked
// to end, which means the same.
func (a *agent) handleSignal() {
	a.ending.bundleDeleted = a.ending.bundleDeleted || a.bundle.supervisor().Deleted()
	requested, force := a.bundle.cancelRequested()
	if a.manifest.Containers && !requested && !a.ending.bundleDeleted {
		a.ending.detached = true // perhaps a shutdown: containers run on without an agent
		return
	}
	if force && !a.ending.killNow {
		a.ending.killNow = true
		for _, r := range a.policy.Replicas {
			if r.State == spec.Running {
				a.launcher.Kill(r.Key)
			}
		}
	}
	a.perform(a.policy.Cancel(a.now()))
	a.reports.dirty = true
}

// publish writes status.json if it has changed and now is set or statusInterval has passed.
func (a *agent) publish(now bool) {
	if !a.reports.dirty || !now && time.Since(a.reports.written) < statusInterval {
		return
	}
	s := a.manifest.identify(a.policy.Status())
	a.logError(a.writeStatus(&s))
	a.reports.recorder.put(&s, a.launcher.Checkpoints())
	a.reports.dirty, a.reports.written = false, time.Now()
}

// writeStatus does nothing if the folder was deleted.
func (a *agent) writeStatus(s *spec.Status) error {
	if a.ending.bundleDeleted {
		return nil
	}
	return a.bundle.writeStatus(s, false)
}

// logError logs errors that must not end the app.
func (a *agent) logError(err error) {
	if err != nil {
		a.log.Print(err)
	}
}

// reply answers the submitter, once.
func (a *agent) reply(r readyAnswer) {
	if a.reports.submitter == nil {
		return
	}
	_, err := a.reports.submitter.Write(r.encode())
	a.logError(errors.Join(err, a.reports.submitter.Close()))
	a.reports.submitter = nil
}
