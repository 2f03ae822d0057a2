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
		Name:  "wait",
		Usage: "wait until an app ends",
		UsageText: "HANDLE\n" +
			"torchx wait -",
		Description: "Wait until an app has ended, print how it ended, and exit with its exit code. " +
			program.HandleHelp +
			" Ctrl-C stops waiting; the app goes on.",
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error {
			return follow.Attach(ctx, f, r, ref, nil)
		}),
	}
}
