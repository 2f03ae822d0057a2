// Package end waits for the end of apps, ends them and removes them: the commands wait, cancel,
// delete and prune.
package end

import (
	"context"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
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
	o, s := cancelOptions{}, &apps.Selection{}
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
			program.HandleHelp + " " + apps.SelectHelp + "On a terminal cancel then asks first; elsewhere --yes is needed.",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "wait", Usage: "wait until the apps have ended", Destination: &o.wait},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "send SIGKILL immediately, and do not ask", Destination: &o.force},
			apps.QuietFlag(&o.quiet),
		}, s.Flags("all apps that have not ended"), s.ChangeFlags()),
		Action: func(c *cli.Context) error {
			f := apps.Quietly(f, o.quiet)
			s.Yes = s.Yes || o.force
			sel, err := s.Apps(c, f, canceling, c.Args().Slice())
			if err != nil || len(sel.Targets) == 0 {
				return err
			}
			return cancelAll(c.Context, f, sel.Runner, sel.Targets, o)
		},
	}
}

// canceling selects apps that have not ended.
var canceling = apps.Purpose{
	Command: "cancel", Verb: "cancel", Past: "canceled", Asks: true,
	CanTake: apps.IsLive, Refusal: "only apps that have not ended can be canceled",
}

// cancelAll requests the end of apps, all before it waits for the first.
func cancelAll(ctx context.Context, f *program.Factory, r *runner.Runner, targets []apps.Target,
	o cancelOptions,
) error {
	var ending []apps.Target
	request := func(ctx context.Context, ref runner.Ref) (*spec.Status, error) {
		before, err := r.Status(ctx, ref)
		if err != nil || before.State.Terminal() {
			return before, err
		}
		return before, r.Cancel(ctx, ref, backend.CancelOptions{Force: o.force, Follow: o.wait})
	}
	failed := apps.EachApp(ctx, f, targets, apps.Parallel, request, func(ref runner.Ref, before *spec.Status) error {
		switch {
		case before.State.Terminal():
			f.Say("%s has already ended: %s", ref.Handle(), ui.StateLine(before, time.Now()))
		case o.wait:
			ending = append(ending, apps.Target{Ref: ref})
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
		defer follow.AnnounceEnding(f.Console, r, ref, killCommand(ref))()
		return r.Wait(ctx, ref)
	}
	err := apps.EachApp(ctx, f, ending, follow.MaxWaits, wait, func(ref runner.Ref, s *spec.Status) error {
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
