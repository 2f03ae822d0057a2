package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/runtime/runner"
)

// NewWait returns the command `wait`.
func NewWait(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:        "wait",
		Usage:       "wait for the end of an app",
		UsageText:   "HANDLE\ntorchx wait -",
		Description: "Wait until an app has ended, say how, and exit with its exit code. " + program.HandleHelp + " Ctrl-C ends the waiting, not the app.",
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error {
			return follow.Attach(ctx, f, r, ref, nil)
		}),
	}
}
