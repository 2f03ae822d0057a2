package sweep

import (
	"context"
	"errors"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/outcome"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// pollEvery is the pause before a failed cancel of a trial is repeated. A reader of its log waits a
// quarter of it between two checks whether the trial has started.
const pollEvery = time.Second

// endOf returns the event for the end of an app with a terminal status.
func endOf(s *spec.Status) sweep.Event {
	if s.Lost {
		return sweep.Event{Kind: sweep.Lost, Msg: s.Msg}
	}
	e := sweep.Event{Kind: sweep.End, State: s.State, Code: s.ExitCode, Msg: reasonOf(s)}
	if s.State == spec.Succeeded {
		e.Msg = ""
	}
	if s.StartedAt != nil {
		e.Began = *s.StartedAt
	}
	if s.FinishedAt != nil {
		e.Time = *s.FinishedAt
	}
	return e
}

// reasonOf returns the message of an app that ended, without what the exit code says, too:
// "replica b/0: killed by SIGKILL". Of a single replica it has no name.
func reasonOf(s *spec.Status) string {
	f := s.FirstFailure
	if f == nil || !strings.HasPrefix(s.Msg, outcome.FailedFirst(f)) {
		return s.Msg
	}
	n := 0
	for i := range s.Roles {
		n += len(s.Roles[i].Replicas)
	}
	var parts []string
	if n > 1 {
		parts = append(parts, outcome.Name(f))
	}
	switch {
	case f.Msg != "":
		parts = append(parts, f.Msg)
	case f.Signal != "":
		parts = append(parts, "killed by "+f.Signal)
	}
	return strings.Join(parts, ": ")
}

// await waits for the end of a trial's app and posts it.
func (c *controller) await(n int, ref history.AppKey) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go c.collect(ctx, ref)
	for wait := (backoff{}); ; time.Sleep(wait.next()) {
		s, err := c.target.Wait(ctx, ref.ID)
		if errors.Is(err, backend.ErrNotFound) {
			s, err = c.deleted(ctx, ref), nil
		}
		if err != nil {
			c.Log.Printf("trial %d: %v", n, err)
			continue
		}
		c.complete(ctx, ref)
		failpoint.Hit(failpoint.TrialEnded)
		c.post(func() { c.end(n, endOf(s)) })
		return
	}
}

// deleted returns the result of an app that its backend no longer has: as recorded, else unknown.
func (c *controller) deleted(ctx context.Context, ref history.AppKey) *spec.Status {
	if c.run.History != nil {
		if s, err := c.run.History.Status(ctx, ref.Backend, ref.ID); err == nil &&
			s.State.Terminal() {
			return s
		}
	}
	return &spec.Status{State: spec.Cancelled, Msg: "its app was deleted"}
}

// end records the end of a trial, in the loop.
func (c *controller) end(n int, e sweep.Event) {
	e.Trial = n
	delete(c.cancels, n)
	if verdict := c.takeValue(n, &e); verdict != nil {
		c.follow(*verdict) // first: after a kill in between, the trial ends again
	}
	if e.Kind == sweep.Lost {
		c.Log.Printf("trial %d was lost: %s", n, e.Msg)
	}
	c.apply(false, e)
	failpoint.Hit(failpoint.TrialEndRecorded)
}

// stop records that a trial stops, then stops it.
func (c *controller) stop(n int, reason string) {
	starting := c.machine.Trials()[n].Phase == sweep.Starting
	c.apply(!c.target.Capabilities().RunsHere, sweep.Event{Kind: sweep.Stop, Trial: n, Msg: reason})
	failpoint.Hit(failpoint.TrialStopping)
	if !starting { // otherwise as soon as its submission is over
		c.stopIfDue(n)
	}
}

// stopIfDue cancels the app of a trial that stops, until that has worked.
func (c *controller) stopIfDue(n int) {
	if c.machine.Trials()[n].Phase != sweep.Stopping || c.cancels[n] {
		return
	}
	c.cancels[n] = true
	ref, o := c.ref(n), backend.CancelOptions{Force: c.force, Reason: c.machine.Trials()[n].Stopped}
	go func() {
		err := c.run.Cancel(context.Background(), ref, o)
		if err == nil {
			return
		}
		c.Log.Printf("trial %d: %v", n, err)
		time.AfterFunc(pollEvery, func() {
			c.post(func() {
				delete(c.cancels, n)
				c.stopIfDue(n)
			})
		})
	}()
}
