// Package compare has the command compare, which shows what differs between runs, and how they
// ended, the command diff, which plans two apps and shows how the plans differ, and the group
// tracker, which lists runs and what they recorded.
//
//	run          one app: its result, its metrics and its facts
//	fact         what a run was given: an argument, an option, a variable, a version
//	differences  facts that are not the same in all runs
//	grid         the comparison as a table, with a column or a row for each run
package compare

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
)

// defaultLimit is how many runs conditions select by default.
const defaultLimit = 100

// options are the flags of `compare`.
type options struct {
	selection apps.LimitedSelection
	metrics   cli.StringSlice
	sort      string
	json, csv bool
}

// NewCompare returns the command `compare`.
func NewCompare(f *program.Factory) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:  "compare",
		Usage: "compare runs",
		UsageText: "[options] HANDLE...\n" +
			"torchx compare echo -\n" +
			"torchx compare --since 1h --sort duration\n" +
			"torchx compare --component utils.echo --csv",
		Description: "Show what differs between runs in arguments, options, variables, code and libraries, how they ended, and the last and the " +
			"best value of each metric. A * marks the best of all runs. The best is the greatest value if the name of the metric has a word such as " +
			metrics.MaximizedExamples + ", and the least with a word such as " + metrics.MinimizedExamples + "; --metric NAME:min or " +
			"NAME:max decides for other metrics, which otherwise have no best value. Runs are columns if " +
			"they fit on the screen, else rows. Of a metric that several replicas have, the first replica counts. " +
			"A sweep stands for its trials, the best first. Instead of handles, conditions as of `torchx list` select runs. " + program.SecretsHelp + " " + program.HandleHelp,
		Flags: append(o.selection.Flags(defaultLimit),
			&cli.StringSliceFlag{Name: "metric", Usage: "compare only metric `NAME[:min|:max]` (repeatable)", Destination: &o.metrics},
			&cli.StringFlag{Name: "sort", Usage: "order runs by `COLUMN`: started, duration, state, retries, memory or a metric (the best first)", Destination: &o.sort},
			&cli.BoolFlag{Name: "csv", Usage: "print CSV, one row for each run", Destination: &o.csv},
			program.JSONFlag(&o.json),
		),
		Action: func(c *cli.Context) error {
			goals, err := parseGoals(o.metrics.Value())
			if err != nil {
				return program.Usagef("compare", "--metric: %v", err)
			}
			if o.json && o.csv {
				return program.Usagef("compare", "--csv cannot be used with --json")
			}
			r, refs, err := o.selection.Refs(c, f, "compare")
			if err != nil || len(refs) == 0 {
				return err
			}
			if refs, err = withTrials(c.Context, f, r, refs, goals, o.selection.Limit()); err != nil {
				return err
			}
			return compare(c.Context, f, r, refs, goals, o)
		},
	}
}

func compare(ctx context.Context, f *program.Factory, r *runner.Runner, refs []runner.Ref,
	goals *goals, o *options,
) error {
	comparison := &comparison{goals: goals}
	for _, ref := range refs {
		program.AwaitProvenance(ctx, f, ref)
		one, err := load(ctx, f, r, ref)
		if err != nil {
			return err
		}
		comparison.runs = append(comparison.runs, one)
	}
	comparison.compareMetrics()
	if err := comparison.sort(o.sort); err != nil {
		return program.Usagef("compare", "--sort: %v", err)
	}
	comparison.findDifferences()
	switch {
	case o.json:
		return f.PrintJSON(comparison.object())
	case o.csv:
		return comparison.printCSV(f)
	}
	return comparison.print(f)
}

// comparison is what is compared, and the result.
type comparison struct {
	goals       *goals
	runs        []*run
	metrics     []metric
	differences []difference
}
