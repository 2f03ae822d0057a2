// Package follow follows an app: it submits it, shows its output or its terminal, handles
// Ctrl-C and prints how the app ended.
//
// `run`, `rerun`, `submit` and `sweep` call Submit, `sweep resume` calls Show, `attach` calls Attach
// or AttachTerminal. All print output by a LogPrinter or a tty session, apply signals to the app
// (signals) and end with the result (app.result).
package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// Options select how `run` and `submit` start the app and how long they follow it.
type Options struct {
	Wait, Log, Detach, queue bool
	JSON                     bool // print the app as JSON at the end, not its handle
	Tty                      TtyOptions
	limits                   startLimits
}

// Flags returns the flags that set o.
func Flags(o *Options) []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "wait", Usage: "wait until the app ends (local and docker do anyway)", Destination: &o.Wait},
		&cli.BoolFlag{Name: "log", Usage: "print the output of replicas and wait (local and docker do anyway)", Destination: &o.Log},
		&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "return when all replicas have started, except roles that wait for others; on a cluster, as soon as it has accepted the app", Destination: &o.Detach},
		&cli.BoolFlag{Name: "queue", Usage: "wait until the app's CPUs, memory and GPUs are free on this machine (with -d: return when the app is queued)", Destination: &o.queue},
		TtyFlag(&o.Tty, "connect the terminal to the only replica: a shell, a REPL, pdb"),
		DetachKeysFlag(&o.Tty),
	}, o.limits.flags()...)
}

// Check returns a usage error for options that contradict each other.
func (o *Options) Check(command string) error {
	if o.Detach && (o.Wait || o.Log) {
		return program.Usagef(command, "--detach cannot be used with --wait or --log")
	}
	if o.JSON && o.Tty.On {
		return program.Usagef(command, "--json cannot be used with --tty, which needs stdout for the terminal")
	}
	if err := o.limits.parse(command); err != nil {
		return err
	}
	return o.Tty.Check(command)
}

// Submit starts the app and prints its handle. Then it shows the view, or without one the output or
// the terminal, and how the app ended, as o selects.
func Submit(
	ctx context.Context, f *program.Factory, p *runner.Planned, o Options, view View,
) error {
	preparing := f.Display.Busy // the display shows the steps of the plan
	var t *terminal
	if o.Tty.On {
		if err := prepareTerminal(f, p, o.Detach); err != nil {
			return err
		}
		t, f = newTerminal(f, o.Tty)
	}
	if begin := p.Plan.Begin; begin != nil {
		p.Plan.Begin = nil // not again in Runner.Submit
		defer begin()()    // now: the history takes milliseconds to open
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	b, err := r.Backends.Get(p.Backend)
	if err != nil {
		return err
	}
	if o.queue {
		if err := requestQueue(b, p); err != nil {
			return err
		}
	}
	if err := settleAfter(ctx, r, p, o.Detach); err != nil {
		return err
	}
	collected, err := program.PrepareProvenance(f, p)
	if err != nil {
		return err
	}
	defer collected()
	runsHere := !o.Detach && b.Capabilities().RunsHere
	a := app{f.Console, r, p.Ref()}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	fg := &foreground{
		app: a, backend: b, terminal: t,
		signals:  &signals{app: a, leave: leave, preparing: preparing, explain: f.Explain, work: f.Interrupts.Work, onTerminal: t != nil},
		view:     view,
		showLogs: o.Log || runsHere, returns: !runsHere && !o.Wait && !o.Log &&
			(t == nil || o.Detach), detached: o.Detach, json: o.JSON,
	}
	if err := o.limits.check(p.Backend, b.Capabilities().RunsHere, fg.returns); err != nil {
		return err
	}
	if !fg.returns && !b.Capabilities().RunsHere {
		fg.limits = &o.limits
	}
	if o.JSON {
		fg.pageURL = f.PageURL(a.ref)
	}
	f.Interrupts.SetHandler(fg.signals.handle)
	return fg.run(ctx, p)
}

// requestQueue makes a plan wait until its resources are free, if the backend supports that.
func requestQueue(b backend.Backend, p *runner.Planned) error {
	if !b.Capabilities().Queues {
		return backend.Errorf(backend.ErrUnsupported,
			"--queue is for backends that run apps on this machine: %s has its own scheduler (see torchx runopts %s)", p.Backend, p.Backend)
	}
	p.Plan.Queue = true
	return nil
}

// foreground submits an app and follows it.
type foreground struct {
	app
	signals  *signals
	backend  backend.Backend
	terminal *terminal // nil without --tty
	view     View      // nil: the output
	showLogs bool
	returns  bool // after the start
	detached bool // --detach
	json     bool // --json
	pageURL  string
	limits   *startLimits // nil: none
	restarts *Announcer
}

func (fg *foreground) run(ctx context.Context, p *runner.Planned) error {
	if _, err := fg.runner.Submit(ctx, p); err != nil {
		if failed := new(backend.StartError); errors.As(err, &failed) && !p.Plan.Unrecorded {
			// The app is in the history, and scripts read its handle.
			return errors.Join(err, fg.printHandle(), fg.printJSON(ctx))
		}
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, backend.ErrPartLeft) {
			fg.Line("", fmt.Sprintf("interrupted: %s was not started", fg.ref.Handle()))
			return cause
		}
		return err
	}
	// The app runs: follow it even if stdout is closed.
	if err := fg.printHandle(); err != nil && !program.IsBrokenPipe(err) {
		fg.Warn("%s is running, but: %v", fg.ref.Handle(), err)
	}
	fg.signals.setSubmitted()
	defer fg.signals.close()
	err := causeOf(ctx, fg.follow(ctx, p.Plan.Queue || len(p.Plan.After) > 0 && fg.backend.Capabilities().RunsHere))
	if printed := fg.printJSON(ctx); err == nil {
		err = printed
	}
	return err
}

// printHandle prints the handle of an app that has started, for scripts.
func (fg *foreground) printHandle() error {
	if fg.json {
		return nil
	}
	return fg.Printf("%s\n", fg.ref.Handle())
}

// follow follows the submitted app.
func (fg *foreground) follow(ctx context.Context, queued bool) error {
	if fg.limits != nil {
		defer limitStart(fg.app, *fg.limits)()
	}
	if !fg.returns && fg.view == nil {
		fg.restarts = Announce(fg.Console, fg.runner, LogTarget{Ref: fg.ref},
			fg.showLogs && fg.terminal == nil)
		defer fg.restarts.Stop()
	}
	var err error
	if queued {
		err = fg.awaitStart(ctx)
	}
	if err != nil || fg.returns && !fg.signals.interrupted() {
		if err == nil && fg.detached && !queued {
			fg.sayNotStarted(ctx)
		}
		return err
	}
	switch {
	case fg.view != nil:
		err = fg.view(ctx, fg.viewed())
	case fg.terminal != nil:
		err = fg.terminal.show(ctx, fg.app, fg.signals.leave, true)
	case fg.showLogs:
		err = fg.printLogs(ctx)
	}
	if err != nil {
		return err
	}
	return fg.result(ctx, fg.signals.interrupted, fg.terminal != nil)
}

// sayNotStarted says that a detached app has not started, unless its last status says that it
// has: only backends that run apps on this machine return after the start.
func (fg *foreground) sayNotStarted(ctx context.Context) {
	if fg.backend.Capabilities().RunsHere {
		return
	}
	if s := fg.runner.LastStatus(ctx, fg.ref); s == nil || !s.State.Started() {
		fg.Say("%s is submitted, its replicas have not started: torchx log -t %s waits for them",
			fg.ref.Handle(), fg.ref.ID)
	}
}

// printLogs prints the output of all replicas on stderr until the app has ended.
func (fg *foreground) printLogs(ctx context.Context) error {
	p := LogPrinter{Console: fg.Console, Runner: fg.runner, Out: fg.Err, Color: fg.ErrStyle.Color, Restarts: fg.restarts}
	_, err := p.Print(ctx, LogRequest{
		Target: LogTarget{Ref: fg.ref}, Read: backend.LogOptions{Follow: true, Tail: -1, Partial: true, AllAttempts: true}, Prefix: true,
	})
	return fg.logError(ctx, err)
}

// causeOf returns why ctx was canceled if err is set, else err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	return err
}

// logError returns the error of printing logs if it ends the command. An unreadable log is
// only a warning: the app is still followed.
func (a app) logError(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case program.IsBrokenPipe(err):
		return program.QuietError(program.ExitPipe)
	}
	if s := a.runner.LastStatus(ctx, a.ref); s != nil && s.State.Terminal() && s.StartedAt == nil {
		return nil // its result says why it never started
	}
	a.Warn("the output cannot be shown: %v", err)
	return nil
}
