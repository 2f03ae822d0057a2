package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// TtyOptions request a terminal.
type TtyOptions struct {
	On   bool
	keys string // "": the default
}

// TtyFlag returns --tty.
func TtyFlag(o *TtyOptions, usage string) cli.Flag {
	return &cli.BoolFlag{Name: "tty", Usage: usage, Destination: &o.On}
}

// DetachKeysFlag returns --detach-keys.
func DetachKeysFlag(o *TtyOptions) cli.Flag {
	return &cli.StringFlag{
		Name: "detach-keys", Destination: &o.keys,
		Usage: "with --tty: `KEYS` that detach, in docker's notation (default: " + tty.DefaultDetachKeys + ")",
	}
}

// Check returns a usage error for keys that cannot be used.
func (o TtyOptions) Check(command string) error {
	if !o.On {
		if o.keys != "" {
			return program.Usagef(command, "--detach-keys requires --tty")
		}
		return nil
	}
	if _, err := tty.ParseDetachKeys(o.keys); err != nil {
		return program.Usagef(command, "--detach-keys: %v", err)
	}
	return nil
}

// CheckTerminal returns an error if a plan cannot run on a terminal.
func CheckTerminal(f *program.Factory, command string, p *runner.Planned) error {
	r, err := f.Planner()
	if err != nil {
		return err
	}
	err = r.CheckTerminal(p)
	if errors.Is(err, runner.ErrManyReplicas) {
		return program.Usagef(command, "%v", err)
	}
	return err
}

// prepareTerminal makes a plan run on a terminal as large as the user's.
func prepareTerminal(f *program.Factory, p *runner.Planned, detached bool) error {
	if err := CheckTerminal(f, "run", p); err != nil {
		return err
	}
	size := tty.DetachedSize
	if !detached {
		size = tty.SizeOf(tty.FirstTerminal(f.Err, f.In, f.Out))
	}
	p.Plan.TTY = &size
	return nil
}

// Causes of a context that was canceled while a terminal was shown.
var (
	errDetached  = fmt.Errorf("detached: %w", program.QuietError(program.ExitOK))
	errSignalled = fmt.Errorf("detached by a signal: %w", program.QuietError(spec.ExitCancelled))
)

// terminal is the user's terminal, which shows the terminal of an app.
type terminal struct {
	keys     string
	screen   *tty.Screen
	out      io.Writer // for the app's output
	attached bool      // to a running app
}

// newTerminal returns a terminal that prints to stderr, and a factory that prints messages
// there.
func newTerminal(f *program.Factory, o TtyOptions) (*terminal, *program.Factory) {
	screen := &tty.Screen{W: f.Err}
	return &terminal{keys: o.keys, screen: screen, out: f.Err}, f.With(func(c *program.Factory) { c.Err = screen })
}

// show prints the output and forwards input until the app has ended or the user detaches.
func (t *terminal) show(ctx context.Context, a app, leave context.CancelCauseFunc, all bool) error {
	conn, err := a.runner.OpenTerminal(ctx, a.ref, tty.OutputOptions(t.out, all))
	if err == nil {
		err = tty.RunSession(ctx, conn, tty.SessionConfig{
			Console: a.Console, Out: t.out, Screen: t.screen, DetachKeys: t.keys, Handle: a.ref.Handle(), Attached: t.attached,
			Detach: func() { leave(errDetached) },
		})
	}
	if program.IsBrokenPipe(err) {
		err = program.QuietError(program.ExitPipe)
	}
	cause := causeOf(ctx, err)
	if errors.Is(cause, errDetached) || errors.Is(cause, errSignalled) {
		a.Say("detached, the app keeps running: torchx attach --tty %s", a.ref.Handle())
	}
	return cause
}

// AttachTerminal shows the terminal of a running app; with all, from its first output. Input
// goes to the app, including Ctrl-C. Signals leave the app running.
func AttachTerminal(ctx context.Context, f *program.Factory, ref runner.Ref, st *spec.Status,
	all bool, o TtyOptions,
) error {
	out := f.Out
	t, f := newTerminal(f, o)
	t.out, t.attached = out, true
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	a := app{f.Console, r, ref}
	s := &signals{app: a, leave: leave, explain: f.Explain, work: f.Interrupts.Work, submitted: true, onTerminal: true}
	f.Interrupts.SetHandler(func(sig os.Signal) {
		if sig == syscall.SIGHUP {
			s.handle(sig)
			return
		}
		leave(errSignalled)
	})
	restarts := Announce(f.Console, r, LogTarget{Ref: ref}, false)
	defer restarts.Stop()
	if !st.State.Terminal() || all {
		if err := t.show(ctx, a, leave, all); err != nil {
			return err
		}
	}
	if err := a.result(ctx, s.interrupted, true); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}
