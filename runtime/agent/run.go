package agent

import (
	"cmp"
	"errors"
	"io"
	"log"
	"os"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

const (
	// statusInterval bounds how often status.json is replaced while replicas
	// start and end by the hundred; the terminal status is always written at once.
	statusInterval = 20 * time.Millisecond
	// refusedGrace is the grace period when a replica cannot start: what has just
	// begun has nothing to save.
	refusedGrace = time.Second
	// exitBatch is how many exits are recorded with one write at the most.
	exitBatch = 1024
)

// agent is one run of the loop. Only the loop's goroutine touches it.
type agent struct {
	bundle   Bundle
	manifest *Manifest
	gang     *gang
	launcher Launcher
	recorder *recorder
	starts   *journal
	exits    *journal
	ready    io.WriteCloser // the submitter waits on it; nil when it has its answer
	log      *log.Logger

	signals <-chan os.Signal
	unheard int           // signals that came while replicas were started
	adopts  bool          // a former agent of this bundle died
	left    bool          // told to end without a request: the next agent goes on
	later   chan func()   // work that timers hand to the loop
	closed  chan struct{} // the loop has ended
	grace   time.Duration
	ports   *ports
	prober  *prober
	clock   clock
	seq     int // of the last record in the journals
	bootID  string
	dirty   bool // the gang has changed since status.json was written
	written time.Time
	forced  bool // kill instead of terminate
	reserve *reserve
	config  Config
	look    <-chan time.Time // when to see whether the bundle is still there
	lost    bool             // the bundle was deleted

	admission *admission // nil: the app did not have to ask
}

// run drives the app to its end and writes its terminal status.
func (a *agent) run() error {
	defer close(a.closed)
	failpoint.Hit(failpoint.AgentBegun)
	if a.adopts {
		a.answer(readyAnswer{OK: true}) // nobody waits for what began long ago
		a.goOn()
	} else {
		a.begin()
	}
	a.publish(true)
	if !a.gang.doomed && !a.left {
		a.answer(readyAnswer{OK: true})
	}
	for !a.gang.done() && !a.left {
		a.step()
	}
	if a.left {
		return a.leave()
	}
	return a.finish()
}

// begin starts the gang, unless a cancel came before the agent could hear it.
func (a *agent) begin() {
	a.dirty = true
	if cancel, force := a.bundle.cancelRequested(); cancel {
		a.forced = force
		a.gang.cancel(a.now())
		return
	}
	if err := a.launcher.Check(); err != nil {
		a.refuse(err)
		return
	}
	a.admit()
}

// after has the loop do something later.
func (a *agent) after(d time.Duration, f func()) {
	time.AfterFunc(d, func() { a.post(f) })
}

// post hands work to the loop and waits until it is taken.
func (a *agent) post(f func()) {
	select {
	case a.later <- f:
	case <-a.closed:
	}
}

// step waits for one thing to happen and acts on it.
func (a *agent) step() {
	if a.unheard > 0 {
		a.unheard = 0
		a.cancelled()
		return
	}
	var flush <-chan time.Time
	if a.dirty {
		flush = time.After(statusInterval)
	}
	select {
	case e := <-a.launcher.Exits():
		a.exited(e)
	case f := <-a.later:
		f()
	case <-a.signals:
		a.cancelled()
	case <-a.look:
		if a.bundle.life().Deleted() {
			a.bundleDeleted()
		}
	case <-flush:
		a.publish(true)
	}
	a.publish(false)
}

// exited takes every exit that is there, records all with one write, then lets the
// policy act.
func (a *agent) exited(first Exit) {
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
		m := a.gang.byKey[e.Replica]
		e.Time = a.clock.at(e.Time)
		batch[i].Time = e.Time
		a.prober.end(e.Replica)
		if m.overdue != "" && !m.stopping {
			batch[i].Code, batch[i].Signal = overdueCode, ""
		}
		records[i] = exitRecord{
			Seq: a.nextSeq(), Time: e.Time, Role: e.Replica.Role, Replica: e.Replica.ID, Attempt: e.Attempt,
			Code: batch[i].Code, Signal: batch[i].Signal, Msg: cmp.Or(m.overdue, e.Msg), Stopped: m.stopping, Usage: e.Usage, Lost: e.Lost,
		}
	}
	failpoint.Hit(failpoint.Exited)
	a.recordExits(records)
	failpoint.Hit(failpoint.ExitRecorded)
	for _, e := range batch {
		m := a.gang.byKey[e.Replica]
		m.errFile, m.usage = a.launcher.ErrorFile(e.Replica, e.Attempt), e.Usage
		a.perform(a.gang.exited(m, e))
	}
	a.dirty = true
}

// recordExits is what must not fail: on a full disk it takes the reserve.
func (a *agent) recordExits(records []any) {
	err := a.exits.append(records...)
	if err != nil && a.reserve.release() {
		a.note(err)
		err = a.exits.append(records...)
	}
	a.note(err)
}

// bundleDeleted ends an app whose folder is gone: nobody could look at it or
// cancel it any more.
func (a *agent) bundleDeleted() {
	a.lost, a.dirty = true, true
	a.perform(a.gang.cancel(a.now()))
}

// nextSeq numbers the records of both journals in the order in which they happened.
func (a *agent) nextSeq() int {
	a.seq++
	return a.seq
}

// refuse ends an app one of whose replicas cannot start.
func (a *agent) refuse(err error) {
	var r *RefusedError
	if !errors.As(err, &r) {
		r = &RefusedError{Replica: a.gang.replicas[0].key, Code: 125, Err: err}
	}
	m := a.gang.byKey[r.Replica]
	now := a.now()
	a.recordExits([]any{exitRecord{
		Seq: a.nextSeq(), Time: now, Role: m.key.Role, Replica: m.key.ID, Attempt: m.next,
		Code: r.Code, Msg: r.Err.Error(), Refused: true,
	}})
	a.grace = min(a.grace, refusedGrace)
	a.perform(a.gang.refused(m, r.Code, r.Err.Error(), now))
	a.dirty = true
}

// stop asks a replica to end and makes sure that it does.
func (a *agent) stop(m *member) {
	if a.forced {
		a.launcher.Kill(m.key)
		return
	}
	attempt := m.attempt
	a.launcher.Terminate(m.key)
	a.after(a.grace, func() {
		if m.state == spec.Running && m.attempt == attempt {
			a.launcher.Kill(m.key)
		}
	})
}

// cancelled handles a signal: a request is in cancel.json, or somebody told the
// agent itself to end, which means the same.
func (a *agent) cancelled() {
	a.lost = a.lost || a.bundle.life().Deleted()
	requested, force := a.bundle.cancelRequested()
	if a.manifest.Containers && !requested && !a.lost {
		a.left = true // the machine goes down, perhaps: containers need no agent to go on
		return
	}
	if force && !a.forced {
		a.forced = true
		for _, m := range a.gang.replicas {
			if m.state == spec.Running {
				a.launcher.Kill(m.key)
			}
		}
	}
	a.perform(a.gang.cancel(a.now()))
	a.dirty = true
}

// publish writes status.json if something changed and enough time has passed.
func (a *agent) publish(now bool) {
	if !a.dirty || !now && time.Since(a.written) < statusInterval {
		return
	}
	s := a.gang.status(a.manifest)
	a.note(a.writeStatus(&s))
	a.recorder.put(&s, a.launcher.Checkpoints())
	a.dirty, a.written = false, time.Now()
}

// writeStatus leaves a folder alone that somebody is just deleting.
func (a *agent) writeStatus(s *spec.Status) error {
	if a.lost {
		return nil
	}
	return a.bundle.writeStatus(s, false)
}

// finish ends what is left, then publishes the result: exits.jsonl has it,
// status.json follows, SQLite last. It is there for everybody to see first and
// made durable right after: a power cut in between can turn it into "agent died",
// never a failure into a success.
func (a *agent) finish() error {
	a.withdraw()
	a.endRest()
	a.reserve.release() // for what follows
	s := a.gang.finalStatus(a.manifest, a.now())
	if a.lost {
		code := 125
		s.State, s.ExitCode, s.FirstFailure = spec.Failed, &code, nil
		s.Msg = "the app's folder was deleted while it ran: its replicas were ended"
	}
	failpoint.Hit(failpoint.Ended)
	a.note(a.launcher.Ended(&s))
	err := a.writeStatus(&s)
	a.note(err)
	failpoint.Hit(failpoint.ResultWritten)
	if err == nil && !a.lost {
		a.bundle.life().RemoveEntry()
	}
	if s.FirstFailure != nil && s.FirstFailure.StartedAt == nil {
		a.answer(readyAnswer{Code: *s.ExitCode, Error: s.FirstFailure.Msg})
	}
	a.answer(readyAnswer{OK: true}) // cancelled before it began
	a.recorder.put(&s, a.launcher.Checkpoints())
	err = errors.Join(err, a.exits.Close(), a.bundle.sync(), a.starts.Close())
	a.recorder.close()
	if a.lost { // only the history has its result: commands wait for that
		a.bundle.life().RemoveEntry()
	}
	failpoint.Hit(failpoint.HistoryWritten)
	return err
}

// endRest ends what replicas left behind; a forced cancel still counts.
func (a *agent) endRest() {
	kill, done := make(chan struct{}), make(chan struct{})
	if a.forced {
		close(kill)
	}
	go func() {
		defer close(done)
		a.launcher.Finish(a.grace, kill)
	}()
	for {
		select {
		case <-done:
			return
		case <-a.signals:
			if _, force := a.bundle.cancelRequested(); force && !a.forced {
				a.forced = true
				close(kill)
			}
		}
	}
}

// note keeps trouble that must not end the app.
func (a *agent) note(err error) {
	if err != nil {
		a.log.Print(err)
	}
}

// answer tells the submitter, once.
func (a *agent) answer(r readyAnswer) {
	if a.ready == nil {
		return
	}
	_, err := a.ready.Write(r.encode())
	a.note(errors.Join(err, a.ready.Close()))
	a.ready = nil
}
