package main

import (
	"context"
	"os"
	"syscall"

	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// attachTerminal sits down at the terminal of an app that runs. Signals leave it
// running: what is typed, Ctrl-C too, goes to the app.
func (t *tool) attachTerminal(ctx context.Context, ref runner.Ref, st *spec.Status, all bool, o ttyOptions) error {
	r, err := t.runner(ctx)
	if err != nil {
		return err
	}
	out := t.out
	f := &follower{tool: t, runner: r, ref: ref, submitted: true, tty: o, screen: t.shareScreen()}
	ctx, f.leave = context.WithCancelCause(ctx)
	defer f.leave(nil)
	f.interrupts.take(f.signalAttached)
	if !st.State.Terminal() || all {
		show := backend.TerminalOptions{All: all, Tail: ttyTail}
		if err := f.left(ctx, f.sit(ctx, out, o, show, true)); err != nil {
			return err
		}
	}
	if err := f.result(ctx); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// signalAttached leaves the app running.
func (f *follower) signalAttached(s os.Signal) {
	if s == syscall.SIGHUP {
		f.signal(s)
		return
	}
	f.leave(errSignalled)
}
