package app

import (
	"context"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// cancelOptions are the flags of `cancel`.
type cancelOptions struct{ wait, force, quiet bool }

// NewCancel returns the command `cancel`.
func NewCancel(f *program.Factory) *cli.Command {
	o, s := cancelOptions{}, &selection{}
	return &cli.Command{
		Name:    "cancel",
		Aliases: []string{"stop"},
		Usage:   "end running apps",
		UsageText: "HANDLE... [--wait] [-f]\n" +
			"torchx run -d utils.sh sleep 60\n" +
			"torchx cancel --wait -\n" +
			"torchx cancel --tag sweep=7 --yes\n" +
			"torchx cancel --all --dry-run",
		Description: "Ask apps to end: their replicas get SIGTERM and, after the grace period, SIGKILL. An app that has ended is left as it " +
			"is. " +
			program.HandleHelp + " " + selectHelp + "On a terminal cancel then asks first; elsewhere --yes is needed.",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "wait", Usage: "wait until the apps have ended", Destination: &o.wait},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "send SIGKILL immediately, and do not ask", Destination: &o.force},
			quietFlag(&o.quiet),
		}, s.flags("all apps that have not ended"), s.changeFlags()),
		Action: func(c *cli.Context) error {
			f := quietly(f, o.quiet)
			s.yes = s.yes || o.force
			sel, err := s.apps(c, f, canceling, c.Args().Slice())
			if err != nil || len(sel.targets) == 0 {
				return err
			}
			return cancelAll(c.Context, f, sel.runner, sel.targets, o)
		},
	}
}

// canceling selects apps that have not ended.
var canceling = purpose{
	command: "cancel", verb: "cancel", past: "canceled", asks: true,
	canTake: isLive, refusal: "only apps that have not ended can be canceled",
}

// cancelAll requests the end of apps, all before it waits for the first.
func cancelAll(ctx context.Context, f *program.Factory, r *runner.Runner, targets []target, o cancelOptions) error {
	var ending []target
	request := func(ctx context.Context, ref runner.Ref) (*spec.Status, error) {
		before, err := r.Status(ctx, ref)
		if err != nil || before.State.Terminal() {
			return before, err
		}
		return before, r.Cancel(ctx, ref, backend.CancelOptions{Force: o.force, Follow: o.wait})
	}
	failed := eachApp(ctx, f, targets, parallel, request, func(ref runner.Ref, before *spec.Status) error {
		switch {
		case before.State.Terminal():
			f.Say("%s has already ended: %s", ref.Handle(), ui.StateLine(before, time.Now()))
		case o.wait:
			ending = append(ending, target{ref: ref})
		default:
			f.Say("canceling %s", ref.Handle())
		}
		return nil
	})
	if len(ending) == 0 || ctx.Err() != nil {
		return failed
	}
	defer sayIfWaiting(f, ending)()
	wait := func(ctx context.Context, ref runner.Ref) (*spec.Status, error) {
		defer follow.AnnounceEnding(f.Console, r, ref)()
		return r.Wait(ctx, ref)
	}
	err := eachApp(ctx, f, ending, follow.MaxWaits, wait, func(ref runner.Ref, s *spec.Status) error {
		f.Say("%s: %s", ref.Handle(), ui.StateLine(s, time.Now()))
		return nil
	})
	switch {
	case err == nil:
		return failed
	case failed == nil || ctx.Err() != nil:
		return err
	case len(ending) == 1: // eachApp leaves the error of an only app to its caller
		f.Explain(err)
	}
	return failed
}
