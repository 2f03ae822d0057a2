package end

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/outputs"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// NewDelete returns the command `delete`.
func NewDelete(f *program.Factory) *cli.Command {
	o, s, quiet := runner.DeleteOptions{}, &apps.Selection{}, false
	return &cli.Command{
		Name:    "delete",
		Aliases: []string{"rm"},
		Usage:   "remove apps and logs",
		UsageText: "HANDLE... [--keep-logs] [-f]\n" +
			"torchx delete echo\n" +
			"torchx run -d utils.sh sleep 60\n" +
			"torchx delete -f -\n" +
			"torchx delete --state failed --until 7d --yes",
		Description: "Remove apps that have ended: their records, files and logs, and with a sweep its trials. An app that has not ended is an error, unless --force " +
			"cancels it first; replicas on a lost machine are then given up after their grace period. Logs in your own log_dir and outputs in your own output_dir are kept. " +
			program.HandleHelp + " " + apps.SelectHelp + "On a terminal delete then asks first; elsewhere --yes is needed. " +
			"`torchx prune` removes apps by their age, number or size.",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "keep-logs", Usage: "keep the log files", Destination: &o.KeepLogs},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "cancel apps that have not ended, then remove them, and do not ask", Destination: &o.Force},
			apps.QuietFlag(&quiet),
		}, s.Flags("all apps that have ended, with --force all apps"), s.ChangeFlags()),
		Action: func(c *cli.Context) error {
			f := apps.Quietly(f, quiet)
			s.Yes = s.Yes || o.Force
			p := deleting
			if o.Force {
				p.CanTake = apps.AnyState
			}
			sel, err := s.Apps(c, f, p, c.Args().Slice())
			if err != nil || len(sel.Targets) == 0 {
				return err
			}
			return deleteAll(c.Context, f, sel.Runner, sel.Targets, o)
		},
	}
}

// deleting selects apps that have ended.
var deleting = apps.Purpose{
	Command: "delete", Verb: "delete", Past: "deleted", Asks: true,
	CanTake: spec.State.Terminal, Refusal: "only apps that have ended can be deleted (--force cancels others first)",
}

func deleteAll(ctx context.Context, f *program.Factory, r *runner.Runner, targets []apps.Target,
	o runner.DeleteOptions,
) error {
	if o.Force || len(targets) == 1 {
		defer sayIfWaiting(f, targets)()
	}
	if o.Force && len(targets) > apps.Parallel {
		cancelLive(ctx, r, targets, backend.CancelOptions{Discard: !o.KeepLogs, Abandon: true})
	}
	act := func(ctx context.Context, ref runner.Ref) (kept string, err error) {
		if o.Force {
			defer follow.AnnounceEnding(f.Console, r, ref, killCommand(ref))()
		}
		return keptOutput(ctx, r, ref), r.Delete(ctx, ref, o)
	}
	return apps.EachApp(ctx, f, targets, apps.Parallel, act, func(ref runner.Ref, kept string) error {
		f.Say("deleted %s%s", ref.Handle(), kept)
		return nil
	})
}

// cancelLive requests the end of the apps that have not ended: more than are deleted at the same
// time must not wait for each other's grace periods. What fails, fails again in the deletion.
func cancelLive(
	ctx context.Context, r *runner.Runner, targets []apps.Target, o backend.CancelOptions,
) {
	requests, stop := apps.Start(ctx, targets, apps.Parallel, func(ctx context.Context, ref runner.Ref) (struct{}, error) {
		if s, err := r.Status(ctx, ref); err != nil || s.State.Terminal() {
			return struct{}{}, err
		}
		return struct{}{}, r.Cancel(ctx, ref, o)
	})
	for _, request := range requests {
		<-request
	}
	stop()
}

// sayIfWaiting prints what the command waits for if it takes long, until stop is called.
func sayIfWaiting(f *program.Factory, targets []apps.Target) (stop func()) {
	if len(targets) == 1 {
		ref := targets[0].Ref
		return f.SayIfSlow("waiting for %s to end (%s kills it)", ref.Handle(), killCommand(ref))
	}
	return f.SayIfSlow("waiting for %s to end (torchx cancel --force kills them)",
		ui.Counted(len(targets), "app"))
}

// killCommand returns the command that kills an app.
func killCommand(ref runner.Ref) string { return "torchx cancel --force " + ref.Handle() }

// keptOutput says where on this machine the outputs stay of an app that will be deleted.
func keptOutput(ctx context.Context, r *runner.Runner, ref runner.Ref) string {
	if can, err := r.Backends.Capabilities(ref.Backend); err != nil || !can.RunsHere {
		return ""
	}
	out, err := r.Output(ctx, ref)
	if err != nil || !out.Kept || !outputs.HasFiles(out.Place) {
		return ""
	}
	return "; its outputs stay in " + out.Place
}
