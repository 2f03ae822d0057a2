package follow

import (
	"context"
	"os"
	"syscall"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// AttachTerminal sits down at the terminal of an app that runs. Signals leave it
// running: what is typed, Ctrl-C too, goes to the app.
func AttachTerminal(ctx context.Context, t *program.Factory, ref runner.Ref, st *spec.Status, all bool, o TtyOptions) error {
	screen, t := shareScreen(t)
	r, err := t.Runner(ctx)
	if err != nil {
		return err
	}
	out := t.Out
	f := &Follower{Factory: t, Runner: r, Ref: ref, Submitted: true, tty: o, screen: screen}
	ctx, f.leave = context.WithCancelCause(ctx)
	defer f.leave(nil)
	f.Interrupts.Take(f.signalAttached)
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
func (f *Follower) signalAttached(s os.Signal) {
	if s == syscall.SIGHUP {
		f.signal(s)
		return
	}
	f.leave(errSignalled)
}
