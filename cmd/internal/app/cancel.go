package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
)

func NewCancel(t *program.Factory) *cli.Command {
	var wait, force bool
	return &cli.Command{
		Name:      "cancel",
		Aliases:   []string{"stop"},
		Usage:     "end an app",
		UsageText: "HANDLE [--wait] [--force]\ntorchx cancel -",
		Description: "Ask an app to end: its replicas get SIGTERM and, after the grace period, SIGKILL. " +
			"Of an app that has ended it does nothing. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "wait", Usage: "return after the end, not after the request", Destination: &wait},
			&cli.BoolFlag{Name: "force", Usage: "kill at once", Destination: &force},
		},
		Action: func(c *cli.Context) error {
			handle, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return cancel(c.Context, t, handle, wait, force)
		},
	}
}

func cancel(ctx context.Context, t *program.Factory, text string, wait, force bool) error {
	r, ref, err := t.Resolve(ctx, text)
	if err != nil {
		return err
	}
	before, err := r.Status(ctx, ref)
	if err != nil {
		return err
	}
	if before.State.Terminal() {
		t.Say("%s has ended already: %s", ref.Handle(), before.State)
		return nil
	}
	if err := r.Cancel(ctx, ref, backend.CancelOptions{Force: force}); err != nil {
		return err
	}
	if !wait {
		t.Say("%s is being cancelled", ref.Handle())
		return nil
	}
	s, err := r.Wait(ctx, ref)
	if err != nil {
		return err
	}
	t.Say("%s: %s", ref.Handle(), s.State)
	return nil
}
