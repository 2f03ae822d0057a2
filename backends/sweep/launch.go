package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// perform does what the machine wants.
func (c *controller) perform(actions []sweep.Action) {
	var drops []sweep.Event
	for _, a := range actions {
		switch a.Kind {
		case sweep.Launch:
			c.launch(a.Trial)
		case sweep.Stop:
			c.stop(a.Trial, a.Msg)
		case sweep.Drop:
			drops = append(drops, sweep.Event{Kind: sweep.Drop, Trial: a.Trial, Msg: a.Msg})
		}
	}
	if len(drops) > 0 {
		c.apply(false, drops...)
	}
}

// launch chooses the app of a trial, then submits it. The choice is recorded first: after a kill
// the next controller finds the app by it.
func (c *controller) launch(n int) {
	p, err := c.plan(n, "")
	id := ""
	if err == nil {
		id = p.Plan.ID
	}
	c.apply(!c.target.Capabilities().RunsHere, sweep.Event{Kind: sweep.Launch, Trial: n, App: id})
	failpoint.Hit(failpoint.TrialChosen)
	if err != nil {
		c.end(n, sweep.Event{Kind: sweep.End, State: spec.Failed, Code: new(spec.ExitNotStarted), Msg: err.Error()})
		return
	}
	go c.submit(n, p)
}

// plan plans the app of a trial with an ID, "" for a new one.
func (c *controller) plan(n int, id string) (*runner.Planned, error) {
	t, err := c.trials.trial(n)
	if err != nil {
		return nil, err
	}
	p, err := c.run.PlanTrial(context.Background(), c.def, t, runner.TrialOptions{
		ID: id, Sweep: c.ID, Environ: c.Environ, Cfg: c.capacity.Cfg, Progress: c.progress(n),
	})
	if err == nil {
		p.Plan.Queue = c.capacity.Queue
	}
	return p, err
}

// progress logs the slow steps of a submission.
func (c *controller) progress(n int) backend.Progress {
	return func(s backend.Step) {
		if s.Warning != "" {
			c.Log.Printf("trial %d: %s", n, s.Warning)
		}
	}
}

// submit submits the app of a trial and posts how that went.
func (c *controller) submit(n int, p *runner.Planned) {
	c.slots <- struct{}{}
	_, err := c.run.Submit(context.Background(), p)
	<-c.slots
	failpoint.Hit(failpoint.TrialSubmitted)
	e := sweep.Event{Kind: sweep.Up}
	if err != nil {
		e = c.refusal(p.Ref(), err)
	}
	c.post(func() { c.submitted(n, e) })
}

// refusal returns what an error of Submit means for a trial. The backend knows best: the app may
// run all the same.
func (c *controller) refusal(ref history.AppKey, cause error) sweep.Event {
	ctx := context.Background()
	s, err := c.target.Describe(ctx, ref.ID)
	switch {
	case err == nil && s.State.Terminal():
		return endOf(s)
	case err == nil:
		return sweep.Event{Kind: sweep.Up}
	case errors.Is(cause, backend.ErrQuotaExceeded) || errors.Is(cause, backend.ErrUnavailable) ||
		errors.Is(err, backend.ErrUnavailable):
		c.forget(ctx, ref)
		return sweep.Event{Kind: sweep.Refuse, Msg: cause.Error()}
	case errors.Is(cause, backend.ErrExists):
		return sweep.Event{Kind: sweep.Lost, Msg: cause.Error()}
	}
	code := spec.ExitNotStarted
	if start := (*backend.StartError)(nil); errors.As(cause, &start) {
		code = start.Code
	}
	return sweep.Event{Kind: sweep.End, State: spec.Failed, Code: &code, Msg: cause.Error()}
}

// forget removes the record of an app that its backend does not have and that will be submitted
// again.
func (c *controller) forget(ctx context.Context, ref history.AppKey) {
	if c.run.History == nil {
		return
	}
	if err := c.run.History.Delete(ctx, ref.Backend, ref.ID); err != nil &&
		!errors.Is(err, history.ErrNotFound) {
		c.Log.Print(err)
	}
}

// submitted records how the submission of a trial went, in the loop.
func (c *controller) submitted(n int, e sweep.Event) {
	t := &c.machine.Trials()[n]
	switch {
	case e.Kind == sweep.End || e.Kind == sweep.Lost:
		c.end(n, e)
		return
	case e.Kind == sweep.Refuse && t.Phase == sweep.Stopping:
		c.end(n, sweep.Event{Kind: sweep.End, State: spec.Cancelled, Msg: t.Stopped})
		return
	case e.Kind == sweep.Refuse:
		e.Trial, e.Until = n, time.Now().Add(c.waits.next())
		c.Log.Printf("trial %d does not start before %s: %s", n,
			e.Until.Format(time.TimeOnly), e.Msg)
		c.apply(false, e)
		return
	case t.Phase == sweep.Starting:
		e.Trial = n
		c.apply(false, e)
		failpoint.Hit(failpoint.TrialUp)
	}
	c.waits.reset()
	c.attend(n)
}

// attend waits for the end of a trial that runs, and stops it if that is due.
func (c *controller) attend(n int) {
	c.begin(n)
	go c.await(n, c.ref(n))
	c.stopIfDue(n)
}

// resume takes over the trials of a former controller.
func (c *controller) resume() {
	for n := range c.machine.Trials() {
		t := &c.machine.Trials()[n]
		switch {
		case t.App == "":
		case t.Phase == sweep.Starting || t.Phase == sweep.Stopping:
			go c.adopt(n, c.ref(n))
		case t.Phase == sweep.Running:
			c.attend(n)
		case t.Phase == sweep.Ended:
			c.begin(n)
			c.takeValue(n, &sweep.Event{})
		}
	}
	if cancelled, force := c.Cancelled(); cancelled {
		c.cancel(force)
	}
}

// adopt finds out whether the app of a trial was submitted, or submits it now.
func (c *controller) adopt(n int, ref history.AppKey) {
	ctx := context.Background()
	for wait := (backoff{}); ; time.Sleep(wait.next()) {
		_, err := c.target.Describe(ctx, ref.ID)
		switch {
		case err == nil:
			c.post(func() { c.submitted(n, sweep.Event{Kind: sweep.Up}) })
			return
		case errors.Is(err, backend.ErrNotFound):
			c.post(func() { c.submitAgain(n, ref) })
			return
		}
		c.Log.Printf("trial %d: %v", n, err)
	}
}

// submitAgain submits the chosen app of a trial that its backend does not have.
func (c *controller) submitAgain(n int, ref history.AppKey) {
	if t := &c.machine.Trials()[n]; t.Phase == sweep.Stopping {
		c.end(n, sweep.Event{Kind: sweep.End, State: spec.Cancelled, Msg: t.Stopped})
		return
	}
	p, err := c.plan(n, ref.ID)
	if err == nil && p.Plan.ID != ref.ID {
		err = fmt.Errorf("the app is now %s, not %s", p.Plan.ID, ref.ID)
	}
	if err != nil {
		c.end(n, sweep.Event{Kind: sweep.End, State: spec.Failed, Code: new(spec.ExitNotStarted), Msg: err.Error()})
		return
	}
	c.forget(context.Background(), ref)
	go c.submit(n, p)
}
