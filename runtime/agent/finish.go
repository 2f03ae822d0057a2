package agent

import (
	"errors"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

// finish ends remaining processes, then publishes the result: exits.jsonl has it already,
// status.json follows, SQLite is last. It is visible first and made durable right after: a
// power cut in between can turn it into "agent died", never a failure into a success.
func (a *agent) finish() error {
	a.leaveQueue()
	a.sampler.close()
	a.endRemaining()
	a.record.reserve.release() // its space is needed now
	s := a.manifest.identify(a.policy.FinalStatus(a.now()))
	if s.State == spec.Cancelled {
		s.Msg = a.bundle.cancelMessage()
	}
	if a.ending.bundleDeleted {
		code := spec.ExitNotStarted
		s.State, s.ExitCode, s.FirstFailure = spec.Failed, &code, nil
		s.Msg = "the app's folder was deleted while the app ran: its replicas were stopped"
	}
	failpoint.Hit(failpoint.Ended)
	awaitMetrics := a.stopMetrics()
	a.logError(a.launcher.Ended(&s))
	err := a.writeStatus(&s)
	a.logError(err)
	failpoint.Hit(failpoint.ResultWritten)
	if err == nil && !a.ending.bundleDeleted {
		a.logError(NoteEnd(a.manifest.Home, a.bundle.Dir, a.manifest.OnEnd, &s))
		failpoint.Hit(failpoint.EndNoted)
		a.bundle.supervisor().RemoveEntry()
	}
	if s.FirstFailure != nil && s.FirstFailure.StartedAt == nil {
		a.reply(readyAnswer{Code: *s.ExitCode, Error: s.FirstFailure.Msg})
	}
	a.reply(readyAnswer{OK: true}) // canceled before the first start
	a.reports.recorder.put(&s, a.launcher.Checkpoints())
	err = errors.Join(err, a.record.exits.Close(), a.bundle.sync(), a.record.starts.Close())
	awaitMetrics()
	a.reports.recorder.close()
	if a.ending.bundleDeleted { // commands wait for the history: only it has the result
		a.bundle.supervisor().RemoveEntry()
	}
	failpoint.Hit(failpoint.HistoryWritten)
	a.runOnEnd()
	return err
}

// endRemaining ends what replicas left running; a forced cancel still takes effect.
func (a *agent) endRemaining() {
	kill, done := make(chan struct{}), make(chan struct{})
	if a.ending.killNow {
		close(kill)
	}
	go func() {
		defer close(done)
		a.launcher.Finish(a.ending.grace, kill)
	}()
	for {
		select {
		case <-done:
			return
		case <-a.events.signals:
			if _, force := a.bundle.cancelRequested(); force && !a.ending.killNow {
				a.ending.killNow = true
				close(kill)
			}
		}
	}
}
