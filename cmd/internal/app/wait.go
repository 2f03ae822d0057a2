package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

func NewWait(t *program.Factory) *cli.Command {
	return &cli.Command{
		Name:        "wait",
		Usage:       "wait for the end of an app",
		UsageText:   "HANDLE\ntorchx wait -",
		Description: "Wait until an app has ended and exit with its exit code. " + program.HandleHelp + " Ctrl-C ends the waiting, not the app.",
		Action: func(c *cli.Context) error {
			handle, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return wait(c.Context, t, handle)
		},
	}
}

func wait(ctx context.Context, t *program.Factory, text string) error {
	r, ref, err := t.Resolve(ctx, text)
	if err != nil {
		return err
	}
	s, err := r.Wait(ctx, ref)
	if err != nil {
		return err
	}
	t.Say("%s: %s%s", ref.Handle(), s.State, ui.After(s))
	return program.AppExit(s)
}
