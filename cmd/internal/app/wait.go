package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// NewWait returns the command `wait`.
func NewWait(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:        "wait",
		Usage:       "wait for the end of an app",
		UsageText:   "HANDLE\ntorchx wait -",
		Description: "Wait until an app has ended and exit with its exit code. " + program.HandleHelp + " Ctrl-C ends the waiting, not the app.",
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error {
			restarts := follow.Announce(f.Console, r, follow.LogTarget{Ref: ref}, false)
			defer restarts.Stop()
			s, err := r.Wait(ctx, ref)
			if err != nil {
				return err
			}
			f.Say("%s: %s%s", ref.Handle(), s.State, ui.After(s))
			return program.AppExit(s)
		}),
	}
}
