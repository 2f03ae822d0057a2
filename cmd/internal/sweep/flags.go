package sweep

import (
	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
)

// flagValues receives the flags of `sweep`.
type flagValues struct {
	options options

	env, envFiles, tags, onEnd, metrics cli.StringSlice
	grid, choice, ranges                cli.StringSlice
	random, repeat, seed                string
}

// cli returns the flags.
func (v *flagValues) cli() []cli.Flag {
	o := &v.options
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "grid", Usage: "try each of these values of an argument, `NAME=VALUE,VALUE2`, with each combination of the others; NAME=[\"a,b\", \"c\"] (JSON) for values with commas (repeatable)", Destination: &v.grid},
		&cli.StringSliceFlag{Name: "choice", Usage: "draw a value of an argument from these, `NAME=VALUE,VALUE2` (repeatable)", Destination: &v.choice},
		&cli.StringSliceFlag{Name: "range", Usage: "draw a value of an argument from `NAME=lin|log|int:LOW..HIGH`: evenly, evenly by its logarithm, or a whole number (repeatable)", Destination: &v.ranges},
		&cli.StringFlag{Name: "random", Usage: "how often --choice and --range draw, `N` times for each combination of --grid and --list", Destination: &v.random},
		&cli.StringFlag{Name: "list", Usage: "read arguments of trials from `FILE` (- is stdin): one JSON object per line, or CSV whose first line has the names", Destination: &o.values.List},
		&cli.StringFlag{Name: "repeat", Usage: "run each combination `N` times; $TORCHX_SEED differs", Destination: &v.repeat},
		&cli.StringFlag{Name: "seed", Usage: "`NUMBER` that decides what is drawn, and $TORCHX_SEED (default: 0)", Destination: &v.seed},
		&cli.StringFlag{Name: "parallel", Usage: "run `N` trials at the same time (default: as many as there is room)", Destination: &o.rules.parallel},
		&cli.StringSliceFlag{Name: "metric", Usage: "compare trials by their best value of the metric `NAME[:min|:max]`; NAME=REGEX records a metric, as for torchx run (repeatable)", Destination: &v.metrics},
		&cli.StringFlag{Name: "goal", Usage: "which value of the metric is the best: `min|max` (default: by its name, as for torchx compare)", Destination: &o.rules.goal},
		&cli.StringFlag{Name: "early-stop", Usage: "stop trials that are worse than others at the same step, by `RULE` median[:MIN_STEP] or asha[:MIN_STEP[:FACTOR]]", Destination: &o.rules.earlyStop},
		&cli.StringFlag{Name: "stop-when", Usage: "end the sweep when a trial meets `CONDITION`, such as 'val_loss<0.1'", Destination: &o.rules.stopWhen},
		&cli.BoolFlag{Name: "keep-going", Usage: "continue after a trial has failed (default)", Destination: &o.rules.keepGoing},
		&cli.BoolFlag{Name: "fail-fast", Usage: "cancel the sweep when a trial fails", Destination: &o.rules.failFast},
		program.BackendFlag(&o.Backend, "run trials on `BACKEND` (default: the first of torchx runopts)"),
		program.CfgFlag(&o.Cfg),
		&cli.BoolFlag{Name: "dryrun", Aliases: []string{"dry-run"}, Usage: "print the trials, and submit nothing", Destination: &o.dryrun},
		&cli.BoolFlag{Name: "json", Usage: "print JSON, not the handle: the sweep once it has ended, with -d once it has started, with --dryrun the trials with their plans", Destination: &o.json},
		&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "return when the sweep has started", Destination: &o.detach},
		&cli.StringSliceFlag{Name: "env", Usage: "set a variable in every role: NAME=VALUE, or NAME for the value that it has here; `K=V` (repeatable)", Destination: &v.env},
		&cli.StringSliceFlag{Name: "env-file", Usage: "set the variables of `FILE` in every role, as for torchx run (repeatable)", Destination: &v.envFiles},
		&cli.BoolFlag{Name: "strict", Usage: "refuse a role that requests no resources", Destination: &o.Strict},
		&cli.StringFlag{Name: "workspace", Usage: "local project `FOLDER` to add to the image of the first role, as for torchx run", Destination: &o.Workspace},
		&cli.StringFlag{Name: "timeout", Usage: "end a trial as FAILED with exit code 124 after `DURATION` from its first start: 90s, 30m, 2h, 1d", Destination: &o.Timeout},
		&cli.StringSliceFlag{Name: "on-end", Usage: "when the sweep has ended, run `COMMAND` with a summary on its stdin, or post a summary to a URL (repeatable; empty: not what .torchxconfig says)", Destination: &v.onEnd},
		&cli.StringSliceFlag{Name: "tag", Usage: "label the sweep and its trials with `KEY[=VALUE]` (repeatable)", Destination: &v.tags},
		&cli.StringFlag{Name: "note", Usage: "describe the sweep by `TEXT`", Destination: &o.Note},
		&cli.StringFlag{Name: "parent_run_id", Usage: "`ID` of the parent run", Destination: &o.ParentRunID},
	}
}

// read returns the options that were given.
func (v *flagValues) read(f *program.Factory, c *cli.Context) (options, error) {
	o := v.options
	o.Component, o.Inputs.Args = planning.SplitComponent(c.Args().Slice())
	o.Env, o.Tags, o.HasWorkspace = v.env.Value(), v.tags.Value(), c.IsSet("workspace")
	o.OnEnd, o.HasOnEnd = v.onEnd.Value(), c.IsSet("on-end")
	for _, path := range v.envFiles.Value() {
		o.EnvFiles = append(o.EnvFiles, f.Env.Absolute(path))
	}
	o.values.Grid, o.values.Choice, o.values.Range = v.grid.Value(), v.choice.Value(), v.ranges.Value()
	for _, number := range []struct {
		flag, text string
		to         *int64
		max        int64
	}{
		{"--random", v.random, &o.values.Random, maxCount},
		{"--repeat", v.repeat, &o.values.Repeat, maxCount},
		{"--seed", v.seed, &o.values.Seed, maxSeed},
	} {
		if err := parseNumber(number.flag, number.text, number.max, number.to); err != nil {
			return o, err
		}
	}
	return o, o.rules.readMetrics(&o.Options, v.metrics.Value())
}

// parseNumber reads the value of a flag, if it is given.
func parseNumber(flag, text string, limit int64, to *int64) error {
	if text == "" {
		return nil
	}
	n, err := program.Count("sweep", flag, text)
	switch {
	case err != nil:
		return err
	case n > limit:
		return program.Usagef("sweep", "%s must be at most %d, not %d", flag, limit, n)
	case n == 0 && flag != "--seed":
		return program.Usagef("sweep", "%s must be at least 1", flag)
	}
	*to = n
	return nil
}
