package sweep

import (
	"context"
	"os"
	"time"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/sweep"
)

const (
	// pollEvery is the time between two looks at a sweep.
	pollEvery = 500 * time.Millisecond
	// pollShare bounds the share of time that is spent in reading a large sweep.
	pollShare = 10
)

// view shows a sweep until it has ended.
type view struct {
	follow.Viewed // its console prints to held
	held          *heldBack
	since         time.Time     // trials that ended before are not announced
	dumb          bool          // the terminal cannot move its cursor
	ended         chan struct{} // closed when the sweep has ended
}

// submit starts a sweep and shows it, unless o has Detach.
func submit(ctx context.Context, f *program.Factory, p *runner.Planned, o follow.Options) error {
	held := newHeldBack(f.Err)
	f = f.With(func(c *program.Factory) { c.Err = held })
	o.Wait = !o.Detach
	return follow.Submit(ctx, f, p, o, newView(f, held, time.Time{}))
}

// show shows a sweep that runs, and of its trials those that have not ended before since.
func show(ctx context.Context, f *program.Factory, ref runner.Ref, since time.Time) error {
	held := newHeldBack(f.Err)
	f = f.With(func(c *program.Factory) { c.Err = held })
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	return follow.Show(ctx, f, r, ref, newView(f, held, since))
}

func newView(f *program.Factory, held *heldBack, since time.Time) follow.View {
	return func(ctx context.Context, viewed follow.Viewed) error {
		v := &view{Viewed: viewed, held: held, since: since, dumb: f.Env.Get("TERM") == "dumb", ended: make(chan struct{})}
		go func() {
			defer close(v.ended)
			_, _ = v.Runner.Wait(ctx, v.Ref) // the caller waits again, and reports the error
		}()
		return v.show(ctx)
	}
}

func (v *view) show(ctx context.Context) error {
	var err error
	if screen := v.screen(); screen != nil {
		err = v.onScreen(ctx, screen)
	} else {
		err = v.inLines(ctx)
	}
	if err != nil {
		return err
	}
	s, err := v.Runner.Trials(ctx, v.Ref)
	if err != nil {
		v.Console.Warn("the trials of %s cannot be shown: %v", v.Ref.Handle(), err)
		return nil
	}
	return v.printResult(s)
}

// screen returns the terminal to draw on, nil if there is none.
func (v *view) screen() *os.File {
	if !ui.IsTerminal(v.held.screen) || v.dumb || v.Console.Level > ui.LevelInfo {
		return nil
	}
	return v.held.screen.(*os.File)
}

// each calls use with snapshots until the sweep has ended; the last one is taken after that.
// Errors of reading are passed over: the result reports one that stays.
func (v *view) each(ctx context.Context, use func(*sweep.Snapshot) error) error {
	for {
		last := false
		select {
		case <-v.ended:
			last = true
		default:
		}
		began := time.Now()
		s, err := v.Runner.Trials(ctx, v.Ref)
		if err == nil {
			err = use(s)
		} else if ctx.Err() == nil {
			err = nil
		}
		if err != nil || last {
			return err
		}
		pause := time.NewTimer(max(pollEvery, pollShare*time.Since(began)))
		select {
		case <-ctx.Done():
		case <-v.ended:
		case <-pause.C:
		}
		pause.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
