package follow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

const (
	// MaxWaits is how many apps are waited for at the same time: on a cluster, each is a watch.
	MaxWaits = 100
	// maxSummaries is how many failed apps Wait shows the last output of.
	maxSummaries = 3
	// maxNamed is how many apps a message names.
	maxNamed = 4
)

// WaitOptions are the options of Wait.
type WaitOptions struct {
	Timeout time.Duration // of all apps together; 0: none
	Quiet   bool          // print only errors of waiting
}

// errStopped is the error of an app that has not ended when waiting ends.
var errStopped = errors.New("has not ended")

// errTimeout is the cause of a context whose WaitOptions.Timeout is over.
var errTimeout = errors.New("timeout")

// waiter waits for several apps.
type waiter struct {
	*program.Factory
	runner  *runner.Runner
	options WaitOptions
	several bool

	printing sync.Mutex
	ended    map[spec.State]int // how many apps ended in a state
}

// Wait waits until apps have ended and prints how each did, in the order of their ends. It
// returns the error of each that holds its exit code, nil if it succeeded; what could not be
// waited for has been explained. err is set if waiting ended early.
func Wait(
	ctx context.Context, f *program.Factory, r *runner.Runner, apps []runner.Ref, o WaitOptions,
) (exits []error, err error) {
	w := &waiter{Factory: f, runner: r, options: o, several: len(apps) > 1, ended: map[spec.State]int{}}
	if o.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
		defer stop()
	}
	slow := w.sayIfSlow(apps)
	exits = make([]error, len(apps))
	g := new(errgroup.Group)
	g.SetLimit(MaxWaits)
	for i, ref := range apps {
		g.Go(func() error {
			exits[i] = w.one(ctx, ref)
			return nil
		})
	}
	_ = g.Wait() // the functions return no errors
	slow()
	return exits, w.finish(ctx, apps, exits)
}

func (w *waiter) sayIfSlow(apps []runner.Ref) (stop func()) {
	switch {
	case w.options.Quiet:
		return func() {}
	case w.several:
		return w.SayIfSlow("waiting for %s to end", ui.Counted(len(apps), "app"))
	}
	return w.SayIfSlow("waiting for %s to end", apps[0].Handle())
}

// one waits for an app. It returns errStopped if ctx ended the wait.
func (w *waiter) one(ctx context.Context, ref runner.Ref) error {
	restarts := w.announce(ref)
	s, err := w.runner.Wait(ctx, ref)
	restarts.Stop()
	switch {
	case err != nil && ctx.Err() != nil:
		return errStopped
	case err != nil:
		w.Explain(err)
		return program.QuietError(program.ExitCode(ctx, err))
	}
	w.printing.Lock()
	defer w.printing.Unlock()
	if w.ended[s.State]++; w.options.Quiet {
		return program.AppExit(s)
	}
	if s.State == spec.Failed && w.ended[spec.Failed] > maxSummaries {
		w.SayError(fmt.Sprintf("%s FAILED: %s", ref.Handle(), ui.Failure(s)))
	} else {
		app{w.Console, w.runner, ref}.printEnd(ctx, s, false)
	}
	return program.AppExit(s)
}

func (w *waiter) announce(ref runner.Ref) *Announcer {
	switch {
	case w.options.Quiet:
		console := w.Clone()
		console.Level = max(console.Level, ui.LevelWarning)
		return Announce(console, w.runner, LogTarget{Ref: ref}, false)
	case w.several:
		return announceOneOfSeveral(w.Console, w.runner, ref)
	}
	return Announce(w.Console, w.runner, LogTarget{Ref: ref}, false)
}

// finish prints how many apps ended in which state, and which have not ended.
func (w *waiter) finish(ctx context.Context, apps []runner.Ref, exits []error) error {
	var left []string
	for i, err := range exits {
		if errors.Is(err, errStopped) {
			left = append(left, apps[i].Handle())
		}
	}
	if w.several && !w.options.Quiet {
		w.sayTally()
	}
	switch {
	case len(left) == 0:
		return nil
	case !errors.Is(context.Cause(ctx), errTimeout) &&
		!errors.Is(context.Cause(ctx), program.ErrInterrupted):
		return context.Cause(ctx)
	}
	text := left[0] + " has not ended"
	if w.several {
		names := strings.Join(left[:min(len(left), maxNamed)], ", ")
		if len(left) > maxNamed {
			names += ", ..."
		}
		text = fmt.Sprintf("%d of %d apps have not ended: %s", len(left), len(apps), names)
	}
	if errors.Is(context.Cause(ctx), program.ErrInterrupted) {
		w.Line("", "interrupted: "+text)
		return program.QuietError(spec.ExitCancelled)
	}
	w.SayError(fmt.Sprintf("timed out after %s: %s", humanize.FormatDuration(w.options.Timeout), text))
	return program.QuietError(spec.ExitDeadline)
}

func (w *waiter) sayTally() {
	var parts []string
	all := 0
	for _, state := range []spec.State{spec.Failed, spec.Cancelled, spec.Succeeded} {
		if n := w.ended[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
			all += n
		}
	}
	if all > 0 {
		w.Say("%s ended: %s", ui.Counted(all, "app"), strings.Join(parts, ", "))
	}
}
