// Package sweep has the command `sweep`, which runs one component many times with other
// arguments.
//
//	values       flags that say which values arguments take ──► space.Space
//	preparation  evaluates and plans each trial ──► sweep.Plan
//	view         shows the sweep until it has ended, on a terminal or line by line
//	TrialTable   the table of trials that it and other commands print
package sweep

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/starlark/component"
)

// options are the flags of `sweep`.
type options struct {
	planning.Options
	values values
	rules  ruleFlags
	dryrun bool
	json   bool
	detach bool
}

// NewSweep returns the command `sweep`.
func NewSweep(f *program.Factory) *cli.Command {
	flags := &flagValues{options: options{Options: planning.Options{Command: "sweep"}}}
	return &cli.Command{
		Name:  "sweep",
		Usage: "run many trials",
		UsageText: "[options] COMPONENT [component arguments]\n" +
			"torchx sweep --grid msg=hi,hello --repeat 2 utils.echo\n" +
			"torchx sweep --random 4 --range num_replicas=int:1..3 --choice msg=a,b utils.echo\n" +
			"torchx sweep --dryrun --grid msg=a,b utils.echo --num_replicas 2\n" +
			"torchx sweep resume - --random 2",
		Description: "Run a component once for each combination of values of its arguments: a trial each. The words after COMPONENT are " +
			"arguments that all trials share. All trials are evaluated and planned before the first one starts. The handle of the " +
			"sweep goes to stdout. A sweep is an app: status, log, wait, cancel, describe and delete take its handle, and it goes on without a terminal. " +
			"Each trial is an app, too, with tags for its sweep, its number and its arguments, and $TORCHX_TRIAL and $TORCHX_SEED. " +
			"sweep shows the trials until all have ended, unless -d is given, and exits with 0 if " +
			"all succeeded, else with the code of the first that failed. A trial that --early-stop or --stop-when ends has not failed. " +
			"Ctrl-C cancels the sweep with its trials, a second Ctrl-C kills them.",
		Args:        true,
		Flags:       flags.cli(),
		Subcommands: []*cli.Command{newResume(f)},
		Action: func(c *cli.Context) error {
			o, err := flags.read(f, c)
			if err != nil {
				return err
			}
			return run(c.Context, f, o)
		},
	}
}

// run prints the trials of a dry run; otherwise it submits the sweep and follows it.
func run(ctx context.Context, f *program.Factory, o options) error {
	p, err := prepare(ctx, f, o)
	if errors.Is(err, component.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.dryrun {
		return p.print(ctx)
	}
	planned, err := p.plan(ctx)
	if err != nil {
		return err
	}
	return submit(ctx, f, planned, follow.Options{Detach: o.detach, JSON: o.json})
}
