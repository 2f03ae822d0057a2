package end

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// pruneOptions are the flags of `prune`.
type pruneOptions struct {
	backend   string
	states    []string
	olderThan string
	keep      *string // nil if it is not given
	maxSize   string
	all       bool
	keepLogs  bool
	dryRun    bool
	force     bool
	limit     string // "": all
	json      bool
}

// NewPrune returns the command `prune`.
func NewPrune(f *program.Factory) *cli.Command {
	o := pruneOptions{}
	states, keep := cli.StringSlice{}, ""
	return &cli.Command{
		Name:  "prune",
		Usage: "remove old apps",
		UsageText: "[--older-than AGE] [--keep N] [--max-size SIZE] [--state S] [--dry-run] [-f]\n" +
			"torchx prune --keep 100 --dry-run\n" +
			"torchx prune --older-than 30d -f\n" +
			"torchx prune --max-size 20G --state succeeded -f",
		Description: "Remove apps that have ended, with their logs. Apps that have not ended and logs in your own log_dir are kept. An app " +
			"is removed only if it meets all conditions. At least one condition or --all is needed, because a removal cannot be " +
			"undone. On a terminal prune asks first; elsewhere --force is needed. The IDs of the last 10,000 removed apps are " +
			"kept, so that `log`, `status` and others can say when an app was removed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "only apps that ended more than `AGE` ago (12h, 30d, 2w), or before a date", Destination: &o.olderThan},
			&cli.StringFlag{Name: "keep", Usage: "all except the newest `N`", Destination: &keep},
			&cli.StringFlag{Name: "max-size", Usage: "the oldest, until all apps together take at most `SIZE` (500M, 20G)", Destination: &o.maxSize},
			&cli.StringSliceFlag{Name: "state", Usage: "only apps in state `S`: succeeded, failed, cancelled (repeatable, or S,S2)", Destination: &states},
			program.BackendFlag(&o.backend, "only apps of `BACKEND`"),
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "all apps that have ended", Destination: &o.all},
			&cli.BoolFlag{Name: "keep-logs", Usage: "move the log files to TORCHX_HOME/logs, where torchx log finds them", Destination: &o.keepLogs},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n", "dryrun"}, Usage: "only print what would be removed, and its size", Destination: &o.dryRun},
			&cli.StringFlag{Name: "limit", Usage: "with --dry-run: print and measure only the `N` oldest of them", Destination: &o.limit},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f", "yes", "y"}, Usage: "do not ask", Destination: &o.force},
			program.JSONFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			if o.states = states.Value(); c.IsSet("keep") {
				o.keep = &keep
			}
			return prune(c.Context, f, o)
		},
	}
}

func prune(ctx context.Context, f *program.Factory, o pruneOptions) error {
	filter, err := o.filter(f, time.Now())
	if err != nil {
		return err
	}
	limit, err := o.most()
	if err != nil {
		return err
	}
	asks := !o.force && !o.dryRun
	if asks && !f.CanAsk() {
		return program.Usagef("prune", "no terminal to ask on: use --force to remove apps, or --dry-run to list them")
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	apps, count, err := r.FirstPrunable(ctx, filter, limit)
	if err != nil {
		return err
	}
	if !o.json {
		if err := printPrunable(f, apps, time.Now()); err != nil {
			return err
		}
	}
	if len(apps) > 0 && asks {
		if yes, err := f.Confirm(ctx, fmt.Sprintf("remove %s, %s?", ui.Counted(len(apps), "app"), sizeText(apps))); err != nil {
			return err
		} else if !yes {
			f.Say("nothing removed")
			return program.QuietError(program.ExitError)
		}
	}
	return pruneAll(ctx, f, r, apps, count, filter.DeleteOptions, o)
}

// filter returns the apps that the flags select.
func (o pruneOptions) filter(
	f *program.Factory, now time.Time,
) (filter runner.PruneFilter, err error) {
	if err := o.check(); err != nil {
		return filter, err
	}
	filter.MaxBytes, filter.KeepLogs = -1, o.keepLogs
	if filter.Backend, err = apps.CanonicalBackend(f, "prune", o.backend); err != nil {
		return filter, err
	}
	if filter.States, err = apps.ParseStates("prune", o.states); err != nil {
		return filter, err
	}
	for _, s := range filter.States {
		if !s.Terminal() {
			return filter, program.Usagef("prune",
				"--state %s: only apps that have ended can be removed", strings.ToLower(s.String()))
		}
	}
	if o.olderThan != "" {
		if filter.Before, err = ui.ParseTime(o.olderThan, now); err != nil {
			return filter, program.Usagef("prune", "--older-than: %v", err)
		}
	}
	if o.keep != nil {
		n, err := program.Count("prune", "--keep", *o.keep)
		if err != nil {
			return filter, err
		}
		filter.Keep = int(n)
	}
	if o.maxSize != "" {
		if filter.MaxBytes, err = ui.ParseBytes(o.maxSize); err != nil {
			return filter, program.Usagef("prune", "--max-size: %v", err)
		}
	}
	return filter, nil
}

// most returns how many apps to print, 0 for all.
func (o pruneOptions) most() (int, error) {
	if o.limit == "" {
		return 0, nil
	}
	if !o.dryRun {
		return 0, program.Usagef("prune", "--limit needs --dry-run: --keep and --older-than say which apps to remove")
	}
	n, err := program.Count("prune", "--limit", o.limit)
	if err == nil && n == 0 {
		err = program.Usagef("prune", "--limit must be at least 1")
	}
	return int(n), err
}

// check returns a usage error if no flag selects apps, or flags contradict each other.
func (o pruneOptions) check() error {
	limited := o.olderThan != "" || o.keep != nil || o.maxSize != ""
	switch {
	case !limited && len(o.states) == 0 && !o.all:
		return program.Usagef("prune", "missing a condition: --older-than AGE, --keep N, --max-size SIZE, --state S or --all")
	case limited && o.all:
		return program.Usagef("prune", "--all cannot be used with --older-than, --keep or --max-size")
	}
	return nil
}

// pruneAll removes apps, continues after one that cannot be removed, and prints a summary.
func pruneAll(ctx context.Context, f *program.Factory, r *runner.Runner,
	candidates []runner.Prunable, count int, d backend.DeleteOptions, o pruneOptions,
) error {
	sum := pruned{DryRun: o.dryRun, Apps: []prunedApp{}, Count: count}
	failed, removed := false, 0
	var err error
	for _, p := range candidates {
		if err = context.Cause(ctx); err != nil {
			break
		}
		a := prunedApp{AppObject: apps.NewAppObject(&p.View), Bytes: p.Bytes}
		if !o.dryRun {
			done, err := r.Prune(ctx, p, d)
			if a.Removed = done; err != nil {
				failed = true
				a.Error = ui.NullString(f.Masked(err.Error()))
				f.Explain(err)
			}
		}
		if a.Removed {
			removed++
		}
		if p.Bytes != nil && (a.Removed || o.dryRun) {
			sum.Bytes += *p.Bytes
		}
		sum.Apps = append(sum.Apps, a)
	}
	if err := printPruned(f, sum, removed, o); err != nil {
		return err
	}
	if err == nil && failed {
		return program.QuietError(program.ExitError)
	}
	return err
}
