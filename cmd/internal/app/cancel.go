package app

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// cancelOptions are the flags of `cancel`.
type cancelOptions struct{ wait, force bool }

// NewCancel returns the command `cancel`.
func NewCancel(f *program.Factory) *cli.Command {
	o := cancelOptions{}
	return &cli.Command{
		Name:    "cancel",
		Aliases: []string{"stop"},
		Usage:   "end a running app",
		UsageText: "HANDLE [--wait] [-f]\n" +
			"torchx run -d utils.sh sleep 60\n" +
			"torchx cancel --wait -",
		Description: "Ask an app to end: its replicas get SIGTERM and, after the grace period, SIGKILL. An app that has ended is left as it " +
			"is. " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "wait", Usage: "wait until the app has ended", Destination: &o.wait},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "send SIGKILL immediately", Destination: &o.force},
		},
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error { return cancel(ctx, f, r, ref, o) }),
	}
}

func cancel(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, o cancelOptions) error {
	before, err := r.Status(ctx, ref)
	if err != nil {
		return err
	}
	if before.State.Terminal() {
		f.Say("%s has already ended: %s", ref.Handle(), ui.StateLine(before, time.Now()))
		return nil
	}
	if err := r.Cancel(ctx, ref, backend.CancelOptions{Force: o.force}); err != nil {
		return err
	}
	if !o.wait {
		f.Say("canceling %s", ref.Handle())
		return nil
	}
	stop := f.SayIfSlow("waiting for %s to end (torchx cancel --force %s kills it)", ref.Handle(), ref.Handle())
	s, err := r.Wait(ctx, ref)
	stop()
	if err != nil {
		return err
	}
	f.Say("%s: %s", ref.Handle(), ui.StateLine(s, time.Now()))
	return nil
}
