package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func (t *tool) attachCommand() *cli.Command {
	var all bool
	var tty ttyOptions
	return &cli.Command{
		Name:      "attach",
		Usage:     "show the output of a running app until it ends",
		UsageText: "HANDLE[/ROLE[/ID,...]] [--all]\ntorchx attach -\ntorchx attach --all echo-f3k1\ntorchx attach --tty -",
		Description: "Stay with an app as `torchx run` does: print what its replicas write from now on, each line with its role and " +
			"replica, say how the app ended and exit with its exit code. " + handleHelp + " On a terminal Ctrl-C asks whether to " +
			"cancel the app or to detach from it; a second Ctrl-C, or one where there is no terminal, detaches and the app goes on. " +
			"With --tty, sit down again at the terminal of an app that `torchx run --tty` started.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "the output from the start of the app on", Destination: &all},
			ttyFlag(&tty, "sit at the terminal of an app that was started with --tty"),
			detachKeysFlag(&tty),
		},
		Action: func(c *cli.Context) error {
			target, err := oneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			if err := tty.check("attach"); err != nil {
				return err
			}
			return t.attach(c.Context, target, all, tty)
		},
	}
}

func (t *tool) attach(ctx context.Context, text string, all bool, tty ttyOptions) error {
	r, err := t.runner(ctx)
	if err != nil {
		return err
	}
	target := logTarget{}
	if target.ref, target.role, target.ids, err = r.ResolveLog(ctx, text); err != nil {
		return err
	}
	s, err := r.Status(ctx, target.ref)
	if err != nil {
		return err
	}
	if s.State == spec.Pending && strings.HasPrefix(s.Msg, queuedMark) {
		t.say("%s %s", target.ref.Handle(), s.Msg)
	}
	if tty.on {
		return t.attachTerminal(ctx, target.ref, s, all, tty)
	}
	q := logQuery{read: backend.LogOptions{Follow: true, Tail: 0, Partial: true}}
	if all || !s.State.Started() { // of an app that has not begun all is new, whenever the log is opened
		q.read.Tail, q.read.AllAttempts = -1, true
	}
	a := newAttachment(&follower{tool: t, runner: r, ref: target.ref, submitted: true})
	if s.State.Terminal() && !all {
		return a.follow(ctx)
	}
	return a.run(ctx, target, q)
}
