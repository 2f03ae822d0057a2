// Package run implements the commands that submit apps: run, rerun and submit. Package
// planning makes the plan, package follow submits it and follows the app.
package run

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/starlark/component"
)

// options are the flags of `run` and `rerun`.
type options struct {
	planning.Options
	dryrun bool
	json   bool
	follow follow.Options
	hasTTY bool // --tty or --tty=false was given
}

// NewRun returns the command `run`.
func NewRun(f *program.Factory) *cli.Command {
	o := options{Options: planning.Options{Command: "run"}}
	var stdin, tee, watches bool
	env, envFiles, tags, onEnd, metrics, after := cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}
	return &cli.Command{
		Name:  "run",
		Usage: "run a component",
		UsageText: "[options] COMPONENT [component arguments]\n" +
			"torchx run utils.echo --msg hello\n" +
			"torchx run -d utils.sh sleep 60\n" +
			"torchx run --env LR=0.1 utils.sh -c 'echo $LR'\n" +
			"torchx run dist.ddp -j 1x2 --self_check\n" +
			"torchx run --tty utils.sh -c 'exec python3'\n" +
			"torchx run --watch train.star:train\n" +
			"torchx run --dryrun -b kubernetes utils.echo --msg hello",
		Description: "Run a component: a built-in one (`torchx builtins`), MODULE.FUNCTION of the folder components, or FILE.star:FUNCTION. " +
			"The words after it are its arguments: `torchx run COMPONENT --help` explains them. The handle of the app goes to " +
			"stdout, the output of its replicas to stderr. run follows the output until the app ends (on a cluster only with " +
			"--wait or --log), unless -d is given, and exits with the app's exit code. Ctrl-C cancels the app, a second Ctrl-C " +
			"kills it. With --tty your terminal is connected to the only replica; ctrl-p ctrl-q detaches and leaves it running. " +
			"--watch runs the app again when its component, a file that the component loads, or its workspace changes. " +
			"--dryrun hides secrets. --dryrun --json does not, because its output can be submitted.",
		Flags: append(runFlags(&o, &env, &envFiles, &tags, &onEnd, &metrics, &after, "run on `BACKEND` (default: the first of torchx runopts)"),
			&cli.BoolFlag{Name: "stdin", Usage: "read what to run from stdin, as JSON", Destination: &stdin},
			&cli.BoolFlag{Name: "watch", Usage: "when a file of the component or the workspace changes, end the app and run it again", Destination: &watches},
			&cli.BoolFlag{Name: "tee_logs", Usage: "accepted for TorchX; logs are always kept and shown", Destination: &tee},
		),
		Action: func(c *cli.Context) (err error) {
			o.EnvFiles, o.OnEnd, o.HasOnEnd = absolute(f, envFiles.Value()), onEnd.Value(), c.IsSet("on-end")
			o.Env, o.Tags, o.Metrics, o.HasWorkspace = env.Value(), tags.Value(), metrics.Value(), c.IsSet("workspace")
			o.After = after.Value()
			o.Component, o.Inputs.Args = planning.SplitComponent(c.Args().Slice())
			if stdin {
				if err := onlyStdin(c); err != nil {
					return err
				}
				if err := readRunRequest(c.Context, f, &o); err != nil {
					return err
				}
			}
			if watches {
				return watch(c.Context, f, o, stdin)
			}
			return run(c.Context, f, o)
		},
	}
}

// runFlags returns the flags that `run` and `rerun` share.
func runFlags(
	o *options, env, envFiles, tags, onEnd, metrics, after *cli.StringSlice, where string,
) []cli.Flag {
	return append([]cli.Flag{
		program.BackendFlag(&o.Backend, where),
		program.CfgFlag(&o.Cfg),
		&cli.BoolFlag{Name: "dryrun", Aliases: []string{"dry-run"}, Usage: "print what would be submitted, and submit nothing", Destination: &o.dryrun},
		jsonFlag(&o.json, ", with --dryrun the plan for torchx submit"),
		&cli.StringSliceFlag{Name: "env", Usage: "set a variable in every role: NAME=VALUE, or NAME for the value that it has here; `K=V` (repeatable)", Destination: env},
		&cli.StringSliceFlag{Name: "env-file", Usage: "set the variables of `FILE` in every role, one NAME=VALUE a line as for docker; --env overrides them, and their values are hidden (repeatable)", Destination: envFiles},
		&cli.BoolFlag{Name: "strict", Usage: "refuse a role that requests no resources", Destination: &o.Strict},
		&cli.StringFlag{Name: "workspace", Aliases: []string{"buck-target"}, Usage: "local project `FOLDER` to add to the image of the first role, or several: {FOLDER: TARGET, ...} (default: the working folder if it has .torchxconfig, Dockerfile.torchx or .git)", Destination: &o.Workspace},
		&cli.StringSliceFlag{Name: "metric", Usage: "record a metric of all lines that match `NAME=REGEX` (RE2 with a group for the number; step gives the step; repeatable)", Destination: metrics},
		timeoutFlag(&o.Timeout),
		onEndFlag(onEnd),
		afterFlag(after),
		&cli.StringFlag{Name: "parent_run_id", Usage: "`ID` of the parent run", Destination: &o.ParentRunID},
	}, slices.Concat(labelFlags(tags, &o.Note), follow.Flags(&o.follow))...)
}

// labelFlags returns the flags that label a run.
func labelFlags(tags *cli.StringSlice, note *string) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "tag", Usage: "label the run with `KEY[=VALUE]` (repeatable; see torchx tag)", Destination: tags},
		&cli.StringFlag{Name: "note", Usage: "describe the run by `TEXT`", Destination: note},
	}
}

// onEndFlag returns the flag --on-end.
func onEndFlag(actions *cli.StringSlice) cli.Flag {
	return &cli.StringSliceFlag{Name: "on-end", Usage: "when the app has ended, run `COMMAND` with a summary on its stdin, or post a summary to a URL (repeatable; empty: not what .torchxconfig says)", Destination: actions}
}

// afterFlag returns the flag --after.
func afterFlag(after *cli.StringSlice) cli.Flag {
	return &cli.StringSliceFlag{Name: "after", Usage: "start when the app `HANDLE[:ok|any]` has succeeded, with :any when it has ended; the app is CANCELLED if that cannot happen (repeatable; see torchx help after)", Destination: after}
}

// absolute resolves paths of the command line.
func absolute(f *program.Factory, paths []string) []string {
	for i, path := range paths {
		paths[i] = f.Env.Absolute(path)
	}
	return paths
}

// timeoutFlag returns the flag --timeout.
func timeoutFlag(limit *string) cli.Flag {
	return &cli.StringFlag{Name: "timeout", Usage: "end the app as FAILED with exit code 124 after `DURATION` from its first start, retries included: 90s, 30m, 2h, 1d", Destination: limit}
}

// jsonFlag returns the flag --json. more says what else it does.
func jsonFlag(on *bool, more string) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON, not the handle: the app once it has ended, with -d once it has started" + more, Destination: on}
}

// check returns a usage error for flags that exclude each other.
func (o *options) check() error {
	o.follow.JSON = o.json && !o.dryrun
	return o.follow.Check(o.Command)
}

func run(ctx context.Context, f *program.Factory, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	conf, err := f.Config()
	if err != nil {
		return err
	}
	if err := o.ApplyConfig(conf); err != nil {
		return err
	}
	if err := o.DefaultBackend(f, conf); err != nil {
		return err
	}
	o.TTY, o.Submit = o.follow.Tty.On, !o.dryrun
	planned, err := planning.PlanComponent(ctx, f, o.Options, conf)
	if errors.Is(err, component.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return execute(ctx, f, planned, o)
}

// execute prints the plan of a dry run; otherwise it submits the plan and follows the app.
func execute(ctx context.Context, f *program.Factory, planned *runner.Planned, o options) error {
	printNotes(f, planned)
	if err := planning.ApplyOnEnd(ctx, f, o.Command, o.Ends, planned, !o.dryrun); err != nil {
		return err
	}
	if err := planning.ApplyAfter(ctx, f, o.Options, planned); err != nil {
		return err
	}
	if o.dryrun && o.follow.Tty.On {
		if err := follow.CheckTerminal(f, "run", planned); err != nil {
			return err
		}
	}
	if o.dryrun {
		for _, n := range planned.Plan.DecidedAtSubmit {
			f.Say("%s", n)
		}
		return printPlan(f, planned, o.json)
	}
	return follow.Submit(ctx, f, planned, o.follow, nil)
}

// printNotes prints the warnings and notes of a plan.
func printNotes(f *program.Factory, p *runner.Planned) {
	for _, w := range p.Warnings {
		f.Warn("%s", w)
	}
	for _, n := range p.Plan.Notes {
		f.Say("%s", n)
	}
}

// printPlan prints the output of a dry run.
func printPlan(f *program.Factory, p *runner.Planned, asJSON bool) error {
	if asJSON {
		return f.PrintJSON(p)
	}
	if err := planning.HideSecretEnv(f, p.Plan.App); err != nil {
		return err
	}
	app, err := f.MaskedYAML(p.Plan.App)
	if err != nil {
		return err
	}
	request, err := f.RequestYAML(p.Plan.Request)
	if err != nil {
		return err
	}
	return f.Printf("%s\n%s\n%s\n%s", f.OutStyle.Paint(ui.AnsiBold, "=== APPLICATION ==="), app,
		f.OutStyle.Paint(ui.AnsiBold, "=== SCHEDULER REQUEST ==="), request)
}
