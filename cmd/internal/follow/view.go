package follow

import (
	"context"
	"os"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// View shows an app, in place of its output, until the app has ended.
type View func(ctx context.Context, v Viewed) error

// Viewed is the app of a View.
type Viewed struct {
	Console *ui.Console
	Runner  *runner.Runner
	Ref     runner.Ref
	Signal  func(os.Signal) // does what a signal does, for keys of a terminal in raw mode
	Detach  func()          // ends the command and leaves the app running
}

// Show shows the view of a running app and how the app ended. Ctrl-C cancels the app as in
// Submit.
func Show(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, view View,
) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	a := app{f.Console, r, ref}
	fg := &foreground{app: a, view: view, signals: &signals{app: a, leave: leave, explain: f.Explain, work: f.Interrupts.Work, submitted: true}}
	f.Interrupts.SetHandler(fg.signals.handle)
	defer fg.signals.close()
	return causeOf(ctx, fg.follow(ctx, false))
}

func (fg *foreground) viewed() Viewed {
	return Viewed{
		Console: fg.Console, Runner: fg.runner, Ref: fg.ref, Signal: fg.signals.handle,
		Detach: func() {
			fg.Say("detached, %s keeps running: torchx wait %s", fg.ref.Handle(), fg.ref.Handle())
			fg.signals.leave(program.QuietError(program.ExitOK))
		},
	}
}
