package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/runtime/agent"
	"torchx/starlark/component"
)

const watchFlag = "--watch"

// watching is a `run --watch`. Each run is a process of its own, `torchx run` with the same words:
// it reads all files anew, and ends its app on SIGINT as Ctrl-C does.
type watching struct {
	*program.Factory
	options options
	args    []string

	mu      sync.Mutex
	child   *exec.Cmd     // nil between two runs
	stopped chan struct{} // closed by the first signal
	err     error         // of the last run
}

// watch runs the component, and again after each change of its files, until a signal ends both.
func watch(ctx context.Context, f *program.Factory, o options, stdin bool) error {
	if err := o.checkWatch(stdin); err != nil {
		return err
	}
	w := &watching{Factory: f, options: o, stopped: make(chan struct{})}
	w.args = slices.Clone(os.Args[1:])
	if at := slices.IndexFunc(w.args, isWatchFlag); at >= 0 {
		w.args = slices.Delete(w.args, at, at+1)
	}
	if err := w.checkBackend(); err != nil {
		return err
	}
	inputs, err := w.inputs(ctx, nil)
	if errors.Is(err, component.ErrHelp) {
		return run(ctx, f, o)
	}
	if err := inputs.check(o.Component, err); err != nil {
		return err
	}
	notify := newNotifier(ctx)
	defer notify.close()
	f.Interrupts.SetHandler(w.signal)
	for {
		before := inputs.snapshot()
		notify.watch(before)
		if !w.runUntilChange(inputs, before, notify) {
			return w.err
		}
		inputs, _ = w.inputs(ctx, inputs)
	}
}

func isWatchFlag(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return name == watchFlag || name == watchFlag[1:]
}

// checkWatch returns a usage error for flags that exclude --watch.
func (o *options) checkWatch(stdin bool) error {
	for _, other := range []struct {
		name string
		on   bool
	}{
		{"--detach", o.follow.Detach}, {"--dryrun", o.dryrun}, {"--json", o.json}, {"--tty", o.follow.Tty.On}, {"--stdin", stdin},
	} {
		if other.on {
			return program.Usagef("run", "%s cannot be used with %s", watchFlag, other.name)
		}
	}
	return nil
}

// checkBackend returns a usage error for a backend whose apps `run` would not follow.
func (w *watching) checkBackend() error {
	conf, err := w.Config()
	if err != nil {
		return err
	}
	o := w.options
	if err := o.DefaultBackend(w.Factory, conf); err != nil {
		return err
	}
	r, err := w.Registry()
	if err != nil {
		return err
	}
	b, err := r.Get(o.Backend)
	if err == nil && !b.Capabilities().RunsHere && !o.follow.Wait && !o.follow.Log {
		err = program.Usagef("run", "%s needs --log or --wait on %s, where run does not wait for the end of the app", watchFlag, o.Backend)
	}
	return err
}

// inputs returns what the next run reads. A component with a mistake leaves what the last one read.
func (w *watching) inputs(ctx context.Context, last *inputs) (*inputs, error) {
	quiet := w.With(func(c *program.Factory) { c.Out, c.Err = io.Discard, io.Discard })
	o := w.options.Options
	found := newInputs(w.Env.Dir, o.EnvFiles)
	found.add(last)
	conf, err := quiet.Config()
	if err != nil {
		return found, err
	}
	built, err := planning.Evaluate(ctx, quiet, &o, conf)
	if err != nil {
		found.guess(w.Env.Absolute(o.Component))
		return found, err
	}
	found = newInputs(w.Env.Dir, o.EnvFiles)
	for _, m := range built.Modules {
		if m.Path != "" {
			found.files = append(found.files, m.Path)
		}
	}
	found.folders, err = planning.WorkspaceFolders(quiet, o, built.App)
	return found, err
}

// runUntilChange runs the component until a file changes; the app has then ended. It returns false
// after a signal.
func (w *watching) runUntilChange(in *inputs, before snapshot, notify *notifier) bool {
	ended, ok := w.start()
	if !ok {
		return false
	}
	for {
		select {
		case <-ended:
			ended = nil
			if !w.isStopped() {
				w.Say("watching %s: a change runs it again, Ctrl-C ends", before.describe(w.ShortPath, in.folders))
			}
		case <-notify.changed:
			changed := before.diff(in.snapshot())
			if len(changed) == 0 {
				continue // an ignored file
			}
			w.sayChanged(changed, ended != nil)
			if ended != nil {
				w.interrupt(os.Interrupt)
				<-ended
			}
			return !w.isStopped()
		case <-w.stopped:
			if ended != nil {
				<-ended
			}
			return false
		}
	}
}

func (w *watching) sayChanged(changed []string, running bool) {
	names := w.ShortPath(changed[0])
	if more := len(changed) - 1; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	next := "running again"
	if running {
		next = "ending the app to run it again"
	}
	w.Say("%s changed: %s", names, next)
}

// start starts a run. The channel is closed when it has ended.
func (w *watching) start() (ended chan struct{}, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isStopped() {
		return nil, false
	}
	// Not of the terminal's group, whose Ctrl-C it would get a second time.
	cmd := agent.Detached(context.Background(), w.Env.Vars, w.Env.Exe, w.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.Env.Dir, w.Out, w.Err
	if err := cmd.Start(); err != nil {
		w.err = fmt.Errorf("run torchx: %w", err)
		return nil, false
	}
	w.child, ended = cmd, make(chan struct{})
	done := w.Interrupts.Work()
	go func() {
		defer close(ended)
		defer done()
		_ = cmd.Wait() // the code says it
		w.mu.Lock()
		defer w.mu.Unlock()
		w.child, w.err = nil, nil
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			w.err = program.QuietError(code)
		}
	}()
	return ended, true
}

// signal passes a signal on to the run and ends the watch.
func (w *watching) signal(sig os.Signal) {
	w.mu.Lock()
	if !w.isStopped() {
		close(w.stopped)
	}
	w.mu.Unlock()
	w.interrupt(sig)
}

func (w *watching) interrupt(sig os.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.child != nil {
		_ = w.child.Process.Signal(sig) // it may have ended
	}
}

func (w *watching) isStopped() bool {
	select {
	case <-w.stopped:
		return true
	default:
		return false
	}
}
