package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/starlark/component"
)

// runOptions is what `run` is asked to do, from flags, --stdin and [cli:run], or
// `rerun`, from flags and the history.
type runOptions struct {
	command     string // "run" or "rerun"
	backend     string
	cfg         string
	cfgJSON     map[string]any // of --stdin, instead of cfg
	recordedCfg backend.Layer  // of `rerun`, instead of the config files
	dryrun      bool
	json        bool
	follow      followOptions
	hasTTY      bool // --tty or --tty=false was said
	workspace   string
	// hasWorkspace: somebody chose the workspace, or none.
	hasWorkspace bool
	parentRunID  string
	env          []string
	strict       bool
	component    string
	inputs       component.Inputs
}

func (t *tool) runCommand() *cli.Command {
	o := runOptions{command: "run"}
	var stdin, tee bool
	env := cli.StringSlice{}
	return &cli.Command{
		Name:  "run",
		Usage: "run a component",
		UsageText: "[options] COMPONENT [component arguments]\n" +
			"torchx run utils.echo --msg hello\n" +
			"torchx run components/dist.star:ddp --nnodes 2 --script train.py\n" +
			"torchx run --tty utils.sh -c 'exec python3'\n" +
			"torchx run -d --env LR=0.1 my.star:train --epochs 3\n" +
			"torchx run --dryrun -b local utils.sh -c 'echo $HOME'",
		Description: "Run a component: built in (`torchx builtins`) or FILE.star:FUNCTION. What stands behind it is its own: " +
			"`torchx run COMPONENT --help` explains its arguments. The handle of the app goes to stdout; the output of replicas, on stderr, " +
			"is followed to the end unless -d is given. Ctrl-C cancels the app, twice kills it. The exit code is the app's own. " +
			"With --tty you sit at the terminal of the only replica: every key goes to it, ctrl-p ctrl-q leaves it running." +
			" What --dryrun prints for people has no secrets; with --json it is the request itself, and has them.",
		Flags: append(runFlags(&o, &env, "where to run: `BACKEND` (default: the first of torchx runopts)"),
			&cli.BoolFlag{Name: "stdin", Usage: "read what to run from stdin, as JSON", Destination: &stdin},
			&cli.BoolFlag{Name: "tee_logs", Usage: "accepted; logs are always kept and shown", Destination: &tee},
		),
		Action: func(c *cli.Context) (err error) {
			o.env, o.hasWorkspace = env.Value(), c.IsSet("workspace")
			o.component, o.inputs.Args = c.Args().First(), c.Args().Tail()
			if stdin {
				if err := onlyStdin(c); err != nil {
					return err
				}
				if err := t.readRunRequest(&o); err != nil {
					return err
				}
			}
			return t.run(c.Context, o)
		},
	}
}

// runFlags are the flags that `run` and `rerun` share.
func runFlags(o *runOptions, env *cli.StringSlice, where string) []cli.Flag {
	return append([]cli.Flag{
		backendFlag(&o.backend, where),
		cfgFlag(&o.cfg),
		&cli.BoolFlag{Name: "dryrun", Aliases: []string{"dry-run"}, Usage: "print what would be submitted, and do nothing", Destination: &o.dryrun},
		&cli.BoolFlag{Name: "json", Usage: "with --dryrun: JSON, as torchx submit reads it", Destination: &o.json},
		&cli.StringSliceFlag{Name: "env", Usage: "set a variable in every role, `K=V` (repeatable)", Destination: env},
		&cli.BoolFlag{Name: "strict", Usage: "refuse a role that does not say which resources it needs", Destination: &o.strict},
		&cli.StringFlag{Name: "workspace", Aliases: []string{"buck-target"}, Usage: "local project `FOLDER` to put into the image of the first role, or several: {FOLDER: PLACE, ...} (default: the working folder if it has .torchxconfig, Dockerfile.torchx or .git)", Destination: &o.workspace},
		&cli.StringFlag{Name: "parent_run_id", Usage: "`ID` of the run this one belongs to", Destination: &o.parentRunID},
	}, followFlags(&o.follow)...)
}

// check refuses flags that make no sense together.
func (o *runOptions) check() error {
	if o.json && !o.dryrun {
		return usagef(o.command, "--json goes with --dryrun only")
	}
	return o.follow.check(o.command)
}

func (t *tool) run(ctx context.Context, o runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	conf, err := t.config()
	if err != nil {
		return err
	}
	if err := o.applyConfig(conf); err != nil {
		return err
	}
	if err := t.chooseBackend(&o); err != nil {
		return err
	}
	planned, err := t.plan(ctx, o, conf)
	if errors.Is(err, component.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.carryOut(ctx, planned, o)
}

// carryOut prints the plan in a dry run and submits it otherwise.
func (t *tool) carryOut(ctx context.Context, planned *runner.Planned, o runOptions) error {
	t.sayPlanned(planned)
	if o.dryrun && o.follow.tty.on {
		if err := t.checkTerminal("run", planned); err != nil {
			return err
		}
	}
	if o.dryrun {
		for _, n := range planned.Plan.DecidedAtSubmit {
			t.say("%s", n)
		}
		return t.printPlan(planned, o.json)
	}
	return t.submitPlanned(ctx, planned, o.follow)
}

// applyConfig fills in what neither flag nor argument said from [cli:run].
func (o *runOptions) applyConfig(conf *config.Config) error {
	defaults := conf.Cli("run")
	for _, key := range []string{"scheduler", "backend"} {
		if o.backend == "" {
			o.backend = defaults[key]
		}
	}
	if text, ok := defaults["workspace"]; ok && !o.hasWorkspace {
		o.workspace, o.hasWorkspace = text, true
	}
	if o.component == "" {
		o.component = defaults["component"]
	}
	if o.component == "" {
		return usagef("run", "missing COMPONENT: `torchx builtins` lists those there are, FILE.star:FUNCTION is one of your own")
	}
	return nil
}

// chooseBackend checks the backend or takes the default, the first one.
func (t *tool) chooseBackend(o *runOptions) error {
	if o.backend != "" {
		_, err := t.canonical(o.command, o.backend)
		return err
	}
	reg, err := t.registry()
	if err != nil {
		return err
	}
	o.backend = reg.Names()[0]
	return nil
}
