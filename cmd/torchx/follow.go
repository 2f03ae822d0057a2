package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// followOptions say when `run` and `submit` start the app and how long they stay
// with it.
type followOptions struct {
	wait, log, detach, queue bool
	tty                      ttyOptions
}

func followFlags(o *followOptions) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "wait", Usage: "return after the end of the app (local and docker do anyway)", Destination: &o.wait},
		&cli.BoolFlag{Name: "log", Usage: "show the output of the replicas, and wait (local and docker do anyway)", Destination: &o.log},
		&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "return once all replicas have started, but for roles that wait for others", Destination: &o.detach},
		&cli.BoolFlag{Name: "queue", Usage: "start when the app's CPUs, memory and GPUs fit beside the apps that run here (with -d: return once it is queued)", Destination: &o.queue},
		ttyFlag(&o.tty, "run the only replica on a terminal, and sit at it: a shell, a REPL, pdb"),
		detachKeysFlag(&o.tty),
	}
}

func (o followOptions) check(command string) error {
	if o.detach && (o.wait || o.log) {
		return usagef(command, "--detach cannot be used with --wait or --log")
	}
	return o.tty.check(command)
}

// staysBy reports whether `run` by itself stays with an app of the backend and
// shows its output: it does where the app lives on this machine.
func staysBy(name string) bool { return name != "kubernetes" }

// submitPlanned starts the app, prints its handle and stays with it as o says.
func (t *tool) submitPlanned(ctx context.Context, p *runner.Planned, o followOptions) error {
	var screen *ttyScreen
	if o.tty.on {
		if err := t.prepareTerminal(p, o.detach); err != nil {
			return err
		}
		screen = t.shareScreen()
	}
	r, err := t.runner(ctx)
	if err != nil {
		return err
	}
	if o.queue {
		if err := askForQueue(r, p); err != nil {
			return err
		}
	}
	stays := !o.detach && staysBy(p.Backend)
	f := &follower{tool: t, runner: r, ref: p.Ref(), log: o.log || stays, quits: !stays && !o.wait && !o.log, tty: o.tty, screen: screen}
	return f.run(ctx, p)
}

// follower stays with an app in the foreground: it shows output, passes Ctrl-C
// on and says how the app ended.
type follower struct {
	*tool
	runner *runner.Runner
	ref    runner.Ref
	log    bool // show the output
	quits  bool // return after the start
	tty    ttyOptions
	screen *ttyScreen // where messages go; nil without a terminal

	leave context.CancelCauseFunc // ends the following (or the submitting), not the app

	mu        sync.Mutex
	submitted bool
	hungUp    bool
	asked     int // how often the user asked for the end

	ending sync.Mutex
}

func (f *follower) run(ctx context.Context, p *runner.Planned) error {
	ctx, f.leave = context.WithCancelCause(ctx)
	defer f.leave(nil)
	f.interrupts.take(f.signal)
	if _, err := f.runner.Submit(ctx, p); err != nil {
		if failed := new(backend.StartError); errors.As(err, &failed) {
			// It is on record, and its handle is what a script looks for.
			return errors.Join(err, f.printf("%s\n", f.ref.Handle()))
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	// The app runs: a closed stdout is no reason to lose it from sight.
	if err := f.printf("%s\n", f.ref.Handle()); err != nil && !isBrokenPipe(err) {
		f.warn("%s is running, but: %v", f.ref.Handle(), err)
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
		err = f.follow(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	return err
}

// started passes on what the user asked for while the app was being submitted.
func (f *follower) started() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.submitted = true
	switch {
	case f.hungUp:
		f.leaveRunning()
	case f.asked > 0:
		f.end(f.asked > 1)
	}
}

func (f *follower) interrupted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked > 0
}

// signal is called for each signal: Ctrl-C cancels the app, a second one kills
// it, a third leaves it; a hang-up leaves it running.
func (f *follower) signal(s os.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s == syscall.SIGHUP {
		f.hungUp = true
		if f.submitted {
			f.leaveRunning()
		}
		return
	}
	f.asked++
	if f.asked > 2 || !f.submitted && f.display.busy() { // nothing runs yet that would have to end
		f.leave(quietError{exitInterrupted})
		return
	}
	if f.asked == 1 {
		f.line("", fmt.Sprintf("cancelling %s (Ctrl-C again kills it at once)", f.ref.Handle()))
	} else {
		f.line("", "killing "+f.ref.Handle())
	}
	if f.submitted {
		f.end(f.asked > 1)
	}
}

func (f *follower) leaveRunning() {
	again := "log -t"
	if f.tty.on {
		again = "attach --tty"
	}
	f.say("the terminal is gone, %s goes on: torchx %s %s", f.ref.Handle(), again, f.ref.Handle())
	f.leave(quietError{exitHangup})
}

// end asks for the end of the app, beside what else goes on. One request
// follows the other, so that a forced one is never overtaken.
func (f *follower) end(force bool) {
	go func() {
		f.ending.Lock()
		defer f.ending.Unlock()
		if err := f.runner.Cancel(context.Background(), f.ref, backend.CancelOptions{Force: force}); err != nil {
			f.explain(err)
			f.leave(quietError{exitInterrupted})
		}
	}()
}

// follow shows the output to the end, says how the app ended and returns its exit code.
func (f *follower) follow(ctx context.Context) error {
	if err := f.look(ctx); err != nil {
		return err
	}
	return f.result(ctx)
}

// result waits for the end of the app, says how it ended and returns its exit code.
func (f *follower) result(ctx context.Context) error {
	s, err := f.runner.Wait(ctx, f.ref)
	if err != nil {
		return err
	}
	if f.tty.on && s.State == spec.Failed {
		f.explainEnd(s)
	} else if s.State == spec.Failed {
		f.explainFailure(ctx, f.runner, f.ref, s)
	} else {
		f.say("%s: %s%s", f.ref.Handle(), s.State, after(s))
	}
	if f.interrupted() && s.State != spec.Succeeded {
		return quietError{exitInterrupted}
	}
	return appExit(s)
}

// look shows the output to the end of the app, in the way that was asked for.
func (f *follower) look(ctx context.Context) error {
	switch {
	case f.tty.on:
		err := f.sit(ctx, f.screen.w, f.tty, backend.TerminalOptions{All: true, Tail: ttyTail}, false)
		return f.left(ctx, err)
	case f.log:
		return f.show(ctx)
	}
	return nil
}

// show copies the output of all replicas to stderr until the app has ended. A
// log that cannot be read is no reason to lose sight of the app.
func (f *follower) show(ctx context.Context) error {
	q := logQuery{read: backend.LogOptions{Follow: true, Tail: -1, Partial: true}}
	_, err := f.copyLogs(ctx, f.err, f.errStyle, f.runner, logTarget{ref: f.ref}, q, logStyle{prefix: true})
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case isBrokenPipe(err):
		return quietError{exitPipe}
	}
	f.warn("the output cannot be shown: %v", err)
	return nil
}
