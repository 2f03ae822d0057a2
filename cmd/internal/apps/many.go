package apps

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// Parallel is how many apps a command acts on at the same time.
const Parallel = 16

// Target is an app that a command acts on.
type Target struct {
	Ref runner.Ref
	Err error // why its handle names no app
}

// resolveAll returns the apps of handles in their order, each once. The words before an app
// of kubectl (`delete pod X`) are a usage error.
func resolveAll(
	ctx context.Context, f *program.Factory, command string, handles []string,
) (*runner.Runner, []Target, error) {
	r, err := f.Runner(ctx)
	if err != nil {
		return nil, nil, err
	}
	var targets []Target
	seen, typed := map[runner.Ref]bool{}, map[string]bool{}
	for i, handle := range handles {
		if typed[handle] {
			continue
		}
		typed[handle] = true
		ref, err := r.Resolve(ctx, handle)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if i == 0 && errors.Is(err, backend.ErrNotFound) {
			if noun := program.AppNoun(command, handles); noun != nil {
				return nil, nil, noun
			}
		}
		if err == nil && seen[ref] {
			continue
		}
		seen[ref] = true
		targets = append(targets, Target{ref, err})
	}
	return r, targets, nil
}

// EachApp calls act for each app, up to limit at a time, and done for each result in the order
// of the apps. It explains the error of each app, continues and fails at the end; the only app's
// error is returned as it is. Once ctx is done, it begins no more apps.
func EachApp[T any](ctx context.Context, f *program.Factory, targets []Target, limit int,
	act func(ctx context.Context, ref runner.Ref) (T, error), done func(ref runner.Ref, value T) error,
) error {
	outcomes, stop := Start(ctx, targets, limit, act)
	defer stop()
	var failed error
	left := 0
	for i, t := range targets {
		o := <-outcomes[i]
		switch {
		case o.err == nil:
			if err := done(t.Ref, o.value); err != nil {
				return err
			}
		case ctx.Err() != nil && (errors.Is(o.err, ctx.Err()) || errors.Is(o.err, context.Cause(ctx))):
			left++
		case len(targets) == 1:
			return o.err
		default:
			f.Explain(o.err)
			failed = errors.Join(failed, o.err)
		}
	}
	switch {
	case left > 0:
		return context.Cause(ctx)
	case failed != nil:
		return program.QuietError(program.ExitCode(ctx, failed))
	}
	return nil
}

// outcome is what became of one app.
type outcome[T any] struct {
	value T
	err   error
}

// Start calls act for each app in the background. stop begins no more apps and waits for those
// that have begun.
func Start[T any](ctx context.Context, targets []Target, limit int,
	act func(ctx context.Context, ref runner.Ref) (T, error),
) (outcomes []chan outcome[T], stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	outcomes = make([]chan outcome[T], len(targets))
	for i := range outcomes {
		outcomes[i] = make(chan outcome[T], 1)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g := new(errgroup.Group)
		g.SetLimit(limit)
		for i, t := range targets {
			g.Go(func() error {
				o := outcome[T]{err: t.Err}
				if o.err == nil {
					if o.err = context.Cause(ctx); o.err == nil {
						o.value, o.err = act(ctx, t.Ref)
					}
				}
				outcomes[i] <- o
				return nil
			})
		}
		_ = g.Wait() // the functions return no errors
	}()
	return outcomes, func() {
		cancel(context.Canceled)
		<-ended
	}
}

// QuietFlag returns the flag --quiet.
func QuietFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print errors only", Destination: to}
}

// Quietly returns a factory that prints warnings and errors only, if quiet is set.
func Quietly(f *program.Factory, quiet bool) *program.Factory {
	if !quiet {
		return f
	}
	return f.With(func(c *program.Factory) { c.Level = max(c.Level, ui.LevelWarning) })
}
