package app

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

type pruneOptions struct {
	backend   string
	states    []string
	olderThan string
	keep      string
	maxSize   string
	all       bool
	keepLogs  bool
	dryRun    bool
	force     bool
	json      bool
	setKeep   bool
}

func NewPrune(t *program.Factory) *cli.Command {
	o := pruneOptions{}
	states := cli.StringSlice{}
	return &cli.Command{
		Name:  "prune",
		Usage: "remove finished apps by age, number or size",
		UsageText: "[--older-than AGE] [--keep N] [--max-size SIZE] [--state S] [--dry-run] [-f]\n" +
			"torchx prune --older-than 30d\ntorchx prune --keep 100 --dry-run\ntorchx prune --max-size 20G --state succeeded -f",
		Description: "Remove apps that have ended, with their logs; a live app is never touched, nor are logs in a log_dir of your own. " +
			"With several conditions an app goes only if each of them lets it go. At least one is needed, or --all: an app that " +
			"is gone does not come back. On a terminal you are asked first; elsewhere --force is needed. " +
			"What is gone and since when is remembered for the last 10,000 apps: `log`, `status` and the others say so.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "only apps that ended before `AGE` ago (12h, 30d, 2w), or before a date", Destination: &o.olderThan},
			&cli.StringFlag{Name: "keep", Usage: "all but the newest `N`", Destination: &o.keep},
			&cli.StringFlag{Name: "max-size", Usage: "only the oldest, until the apps of this home take at most `SIZE` (500M, 20G)", Destination: &o.maxSize},
			&cli.StringSliceFlag{Name: "state", Usage: "only apps in state `S`: succeeded, failed, cancelled (repeatable, or S,S2)", Destination: &states},
			program.BackendFlag(&o.backend, "only apps of `BACKEND`"),
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "every app that has ended", Destination: &o.all},
			&cli.BoolFlag{Name: "keep-logs", Usage: "keep the log files, in TORCHX_HOME/logs; torchx log still prints them", Destination: &o.keepLogs},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n", "dryrun"}, Usage: "only print what would go, and how much it takes", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f", "yes", "y"}, Usage: "do not ask", Destination: &o.force},
			program.JSONFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			o.states, o.setKeep = states.Value(), c.IsSet("keep")
			return prune(c.Context, t, o)
		},
	}
}

// filter is what the flags say, understood.
func pruneFilter(t *program.Factory, o pruneOptions, now time.Time) (f runner.PruneFilter, err error) {
	if err := o.check(); err != nil {
		return f, err
	}
	f.MaxBytes, f.KeepLogs = -1, o.keepLogs
	if o.backend != "" {
		alias, err := t.Canonical("prune", o.backend)
		if err != nil {
			return f, err
		}
		f.Backend = alias.Backend
	}
	if f.States, err = parseStates("prune", o.states); err != nil {
		return f, err
	}
	for _, s := range f.States {
		if !s.Terminal() {
			return f, program.Usagef("prune", "--state %s: only apps that have ended can be removed", strings.ToLower(s.String()))
		}
	}
	if o.olderThan != "" {
		if f.Before, err = ui.ParseTime(o.olderThan, now); err != nil {
			return f, program.Usagef("prune", "--older-than: %v", err)
		}
	}
	if o.setKeep {
		n, err := program.Count("prune", "--keep", o.keep)
		if err != nil {
			return f, err
		}
		f.Keep = int(n)
	}
	if o.maxSize != "" {
		if f.MaxBytes, err = ui.ParseBytes(o.maxSize); err != nil {
			return f, program.Usagef("prune", "--max-size: %v", err)
		}
	}
	return f, nil
}

// check refuses a command line that says too little or contradicts itself.
func (o pruneOptions) check() error {
	limited := o.olderThan != "" || o.setKeep || o.maxSize != "" || len(o.states) > 0
	switch {
	case !limited && !o.all:
		return program.Usagef("prune", "say which apps may go: --older-than AGE, --keep N, --max-size SIZE, --state S, or --all")
	case o.all && (o.olderThan != "" || o.setKeep || o.maxSize != ""):
		return program.Usagef("prune", "--all cannot be used with --older-than, --keep or --max-size")
	}
	return nil
}

// TerminalStates are the names of the states in which an app has ended.
func TerminalStates() []string {
	return slices.DeleteFunc(StateNames(), func(name string) bool {
		s, err := spec.ParseState(name)
		return err != nil || !s.Terminal()
	})
}
