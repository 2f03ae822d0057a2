package follow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// FollowOptions say when `run` and `submit` start the app and how long they stay
// with it.
type FollowOptions struct {
	Wait, Log, Detach, queue bool
	Tty                      TtyOptions
}

func FollowFlags(o *FollowOptions) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "wait", Usage: "return after the end of the app (local and docker do anyway)", Destination: &o.Wait},
		&cli.BoolFlag{Name: "log", Usage: "show the output of the replicas, and wait (local and docker do anyway)", Destination: &o.Log},
		&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "return once all replicas have started, but for roles that wait for others", Destination: &o.Detach},
		&cli.BoolFlag{Name: "queue", Usage: "start when the app's CPUs, memory and GPUs fit beside the apps that run here (with -d: return once it is queued)", Destination: &o.queue},
		TtyFlag(&o.Tty, "run the only replica on a terminal, and sit at it: a shell, a REPL, pdb"),
		DetachKeysFlag(&o.Tty),
	}
}

func (o FollowOptions) Check(command string) error {
	if o.Detach && (o.Wait || o.Log) {
		return program.Usagef(command, "--detach cannot be used with --wait or --log")
	}
	return o.Tty.Check(command)
}

// SubmitPlanned starts the app, prints its handle and stays with it as o says.
func SubmitPlanned(ctx context.Context, t *program.Factory, p *runner.Planned, o FollowOptions) error {
	var screen *tty.TtyScreen
	if o.Tty.On {
		if err := prepareTerminal(t, p, o.Detach); err != nil {
			return err
		}
		screen, t = shareScreen(t)
	}
	r, err := t.Runner(ctx)
	if err != nil {
		return err
	}
	if o.queue {
		if err := askForQueue(r, p); err != nil {
			return err
		}
	}
	b, err := r.Backends.Get(p.Backend)
	if err != nil {
		return err
	}
	stays := !o.Detach && backend.RunsHere(b)
	f := &Follower{Factory: t, Runner: r, Ref: p.Ref(), log: o.Log || stays, quits: !stays && !o.Wait && !o.Log, tty: o.Tty, screen: screen}
	return f.run(ctx, p)
}

// Follower stays with an app in the foreground: it shows output, passes Ctrl-C
// on and says how the app ended.
type Follower struct {
	*program.Factory
	Runner *runner.Runner
	Ref    runner.Ref
	log    bool // show the output
	quits  bool // return after the start
	tty    TtyOptions
	screen *tty.TtyScreen // where messages go; nil without a terminal

	leave context.CancelCauseFunc // ends the following (or the submitting), not the app

	mu        sync.Mutex
	Submitted bool
	hungUp    bool
	asked     int // how often the user asked for the end

	ending sync.Mutex
}

func (f *Follower) run(ctx context.Context, p *runner.Planned) error {
	ctx, f.leave = context.WithCancelCause(ctx)
	defer f.leave(nil)
	f.Interrupts.Take(f.signal)
	if _, err := f.Runner.Submit(ctx, p); err != nil {
		if failed := new(backend.StartError); errors.As(err, &failed) {
			// It is on record, and its handle is what a script looks for.
			return errors.Join(err, f.Printf("%s\n", f.Ref.Handle()))
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	// The app runs: a closed stdout is no reason to lose it from sight.
	if err := f.Printf("%s\n", f.Ref.Handle()); err != nil && !program.IsBrokenPipe(err) {
		f.Warn("%s is running, but: %v", f.Ref.Handle(), err)
	}
	f.started()
	var err error
	if p.Plan.Queue {
		err = f.awaitTurn(ctx)
	}
	if f.quits && !f.interrupted() {
		return err
	}
	if err == nil {
		err = f.Follow(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	return err
}

// started passes on what the user asked for while the app was being submitted.
func (f *Follower) started() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Submitted = true
	switch {
	case f.hungUp:
		f.leaveRunning()
	case f.asked > 0:
		f.end(f.asked > 1)
	}
}

func (f *Follower) interrupted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked > 0
}

// signal is called for each signal: Ctrl-C cancels the app, a second one kills
// it, a third leaves it; a hang-up leaves it running.
func (f *Follower) signal(s os.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s == syscall.SIGHUP {
		f.hungUp = true
		if f.Submitted {
			f.leaveRunning()
		}
		return
	}
	f.asked++
	if f.asked > 2 || !f.Submitted && f.Display.Busy() { // nothing runs yet that would have to end
		f.leave(program.QuietError(spec.ExitCancelled))
		return
	}
	if f.asked == 1 {
		f.Line("", fmt.Sprintf("cancelling %s (Ctrl-C again kills it at once)", f.Ref.Handle()))
	} else {
		f.Line("", "killing "+f.Ref.Handle())
	}
	if f.Submitted {
		f.end(f.asked > 1)
	}
}

func (f *Follower) leaveRunning() {
	again := "log -t"
	if f.tty.On {
		again = "attach --tty"
	}
	f.Say("the terminal is gone, %s goes on: torchx %s %s", f.Ref.Handle(), again, f.Ref.Handle())
	f.leave(program.QuietError(program.ExitHangup))
}

// end asks for the end of the app, beside what else goes on. One request
// follows the other, so that a forced one is never overtaken.
func (f *Follower) end(force bool) {
	go func() {
		f.ending.Lock()
		defer f.ending.Unlock()
		if err := f.Runner.Cancel(context.Background(), f.Ref, backend.CancelOptions{Force: force}); err != nil {
			f.Explain(err)
			f.leave(program.QuietError(spec.ExitCancelled))
		}
	}()
}

// Follow shows the output to the end, says how the app ended and returns its exit code.
func (f *Follower) Follow(ctx context.Context) error {
	if err := f.look(ctx); err != nil {
		return err
	}
	return f.result(ctx)
}

// result waits for the end of the app, says how it ended and returns its exit code.
func (f *Follower) result(ctx context.Context) error {
	s, err := f.Runner.Wait(ctx, f.Ref)
	if err != nil {
		return err
	}
	if f.tty.On && s.State == spec.Failed {
		f.explainEnd(s)
	} else if s.State == spec.Failed {
		explainFailure(ctx, f.Factory, f.Runner, f.Ref, s)
	} else {
		f.Say("%s: %s%s", f.Ref.Handle(), s.State, ui.After(s))
	}
	if f.interrupted() && s.State != spec.Succeeded {
		return program.QuietError(spec.ExitCancelled)
	}
	return program.AppExit(s)
}

// look shows the output to the end of the app, in the way that was asked for.
func (f *Follower) look(ctx context.Context) error {
	switch {
	case f.tty.On:
		err := f.sit(ctx, f.screen.W, f.tty, backend.TerminalOptions{All: true, Tail: ttyTail}, false)
		return f.left(ctx, err)
	case f.log:
		return f.show(ctx)
	}
	return nil
}

// show copies the output of all replicas to stderr until the app has ended. A
// log that cannot be read is no reason to lose sight of the app.
func (f *Follower) show(ctx context.Context) error {
	q := LogQuery{Read: backend.LogOptions{Follow: true, Tail: -1, Partial: true}}
	_, err := CopyLogs(ctx, f.Factory, f.Err, f.ErrStyle, f.Runner, LogTarget{Ref: f.Ref}, q, LogStyle{Prefix: true})
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case program.IsBrokenPipe(err):
		return program.QuietError(program.ExitPipe)
	}
	f.Warn("the output cannot be shown: %v", err)
	return nil
}
