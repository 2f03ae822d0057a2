package app

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func NewAttach(t *program.Factory) *cli.Command {
	var all bool
	var tty follow.TtyOptions
	return &cli.Command{
		Name:      "attach",
		Usage:     "show the output of a running app until it ends",
		UsageText: "HANDLE[/ROLE[/ID,...]] [--all]\ntorchx attach -\ntorchx attach --all echo-f3k1\ntorchx attach --tty -",
		Description: "Stay with an app as `torchx run` does: print what its replicas write from now on, each line with its role and " +
			"replica, say how the app ended and exit with its exit code. " + program.HandleHelp + " On a terminal Ctrl-C asks whether to " +
			"cancel the app or to detach from it; a second Ctrl-C, or one where there is no terminal, detaches and the app goes on. " +
			"With --tty, sit down again at the terminal of an app that `torchx run --tty` started.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "the output from the start of the app on", Destination: &all},
			follow.TtyFlag(&tty, "sit at the terminal of an app that was started with --tty"),
			follow.DetachKeysFlag(&tty),
		},
		Action: func(c *cli.Context) error {
			target, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			if err := tty.Check("attach"); err != nil {
				return err
			}
			return attach(c.Context, t, target, all, tty)
		},
	}
}

func attach(ctx context.Context, t *program.Factory, text string, all bool, tty follow.TtyOptions) error {
	r, err := t.Runner(ctx)
	if err != nil {
		return err
	}
	target := follow.LogTarget{}
	if target.Ref, target.Role, target.Ids, err = r.ResolveLog(ctx, text); err != nil {
		return err
	}
	s, err := r.Status(ctx, target.Ref)
	if err != nil {
		return err
	}
	if s.State == spec.Pending && strings.HasPrefix(s.Msg, ui.QueuedMark) {
		t.Say("%s %s", target.Ref.Handle(), s.Msg)
	}
	if tty.On {
		return follow.AttachTerminal(ctx, t, target.Ref, s, all, tty)
	}
	q := follow.LogQuery{Read: backend.LogOptions{Follow: true, Tail: 0, Partial: true}}
	if all || !s.State.Started() { // of an app that has not begun all is new, whenever the log is opened
		q.Read.Tail, q.Read.AllAttempts = -1, true
	}
	a := follow.NewAttachment(&follow.Follower{Factory: t, Runner: r, Ref: target.Ref, Submitted: true})
	if s.State.Terminal() && !all {
		return a.Follow(ctx)
	}
	return a.Run(ctx, target, q)
}
