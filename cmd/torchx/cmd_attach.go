package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/backends"
)

func (t *tool) attachCommand() *cli.Command {
	var all bool
	return &cli.Command{
		Name:      "attach",
		Usage:     "show the output of a running app until it ends",
		UsageText: "HANDLE[/ROLE[/ID,...]] [--all]\ntorchx attach -\ntorchx attach --all echo-f3k1",
		Description: "Stay with an app as `torchx run` does: print what its replicas write from now on, each line with its role and " +
			"replica, say how the app ended and exit with its exit code. " + handleHelp + " On a terminal Ctrl-C asks whether to " +
			"cancel the app or to detach from it; a second Ctrl-C, or one where there is no terminal, detaches and the app goes on.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "the output from the start of the app on", Destination: &all},
		},
		Action: func(c *cli.Context) error {
			target, err := oneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return t.attach(c.Context, target, all)
		},
	}
}

func (t *tool) attach(ctx context.Context, text string, all bool) error {
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
	q := logQuery{read: backends.LogOptions{Follow: true, Tail: 0, Partial: true}}
	if all {
		q.read.Tail, q.read.AllAttempts = -1, true
	}
	a := newAttachment(&follower{tool: t, runner: r, ref: target.ref, submitted: true})
	if s.State.Terminal() && !all {
		return a.follow(ctx)
	}
	return a.run(ctx, target, q)
}
