package run

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/starlark/component"
)

// RunOptions is what `run` is asked to do, from flags, --stdin and [cli:run], or
// `rerun`, from flags and the history.
type RunOptions struct {
	Command     string // "run" or "rerun"
	Backend     string
	Cfg         string
	cfgJSON     map[string]any // of --stdin, instead of cfg
	recordedCfg backend.Layer  // of `rerun`, instead of the config files
	dryrun      bool
	json        bool
	follow      follow.FollowOptions
	hasTTY      bool // --tty or --tty=false was said
	Workspace   string
	// HasWorkspace: somebody chose the workspace, or none.
	HasWorkspace bool
	parentRunID  string
	Env          []string
	strict       bool
	Component    string
	Inputs       component.Inputs
}

func NewRun(t *program.Factory) *cli.Command {
	o := RunOptions{Command: "run"}
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
			o.Env, o.HasWorkspace = env.Value(), c.IsSet("workspace")
			o.Component, o.Inputs.Args = c.Args().First(), c.Args().Tail()
			if stdin {
				if err := onlyStdin(c); err != nil {
					return err
				}
				if err := readRunRequest(t, &o); err != nil {
					return err
				}
			}
			return run(c.Context, t, o)
		},
	}
}

// runFlags are the flags that `run` and `rerun` share.
func runFlags(o *RunOptions, env *cli.StringSlice, where string) []cli.Flag {
	return append([]cli.Flag{
		program.BackendFlag(&o.Backend, where),
		program.CfgFlag(&o.Cfg),
		&cli.BoolFlag{Name: "dryrun", Aliases: []string{"dry-run"}, Usage: "print what would be submitted, and do nothing", Destination: &o.dryrun},
		&cli.BoolFlag{Name: "json", Usage: "with --dryrun: JSON, as torchx submit reads it", Destination: &o.json},
		&cli.StringSliceFlag{Name: "env", Usage: "set a variable in every role, `K=V` (repeatable)", Destination: env},
		&cli.BoolFlag{Name: "strict", Usage: "refuse a role that does not say which resources it needs", Destination: &o.strict},
		&cli.StringFlag{Name: "workspace", Aliases: []string{"buck-target"}, Usage: "local project `FOLDER` to put into the image of the first role, or several: {FOLDER: PLACE, ...} (default: the working folder if it has .torchxconfig, Dockerfile.torchx or .git)", Destination: &o.Workspace},
		&cli.StringFlag{Name: "parent_run_id", Usage: "`ID` of the run this one belongs to", Destination: &o.parentRunID},
	}, follow.FollowFlags(&o.follow)...)
}

// check refuses flags that make no sense together.
func (o *RunOptions) check() error {
	if o.json && !o.dryrun {
		return program.Usagef(o.Command, "--json goes with --dryrun only")
	}
	return o.follow.Check(o.Command)
}

func run(ctx context.Context, t *program.Factory, o RunOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	conf, err := t.Config()
	if err != nil {
		return err
	}
	if err := o.ApplyConfig(conf); err != nil {
		return err
	}
	if err := ChooseBackend(t, &o); err != nil {
		return err
	}
	planned, err := Plan(ctx, t, o, conf)
	if errors.Is(err, component.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return carryOut(ctx, t, planned, o)
}

// carryOut prints the plan in a dry run and submits it otherwise.
func carryOut(ctx context.Context, t *program.Factory, planned *runner.Planned, o RunOptions) error {
	sayPlanned(t, planned)
	if o.dryrun && o.follow.Tty.On {
		if err := follow.CheckTerminal(t, "run", planned); err != nil {
			return err
		}
	}
	if o.dryrun {
		for _, n := range planned.Plan.DecidedAtSubmit {
			t.Say("%s", n)
		}
		return printPlan(t, planned, o.json)
	}
	return follow.SubmitPlanned(ctx, t, planned, o.follow)
}

// ApplyConfig fills in what neither flag nor argument said from [cli:run].
func (o *RunOptions) ApplyConfig(conf *config.Config) error {
	defaults := conf.Cli("run")
	for _, key := range []string{"scheduler", "backend"} {
		if o.Backend == "" {
			o.Backend = defaults[key]
		}
	}
	if text, ok := defaults["workspace"]; ok && !o.HasWorkspace {
		o.Workspace, o.HasWorkspace = text, true
	}
	if o.Component == "" {
		o.Component = defaults["component"]
	}
	if o.Component == "" {
		return program.Usagef("run", "missing COMPONENT: `torchx builtins` lists those there are, FILE.star:FUNCTION is one of your own")
	}
	return nil
}

// ChooseBackend checks the backend or takes the default, the first one.
func ChooseBackend(t *program.Factory, o *RunOptions) error {
	if o.Backend != "" {
		_, err := t.Canonical(o.Command, o.Backend)
		return err
	}
	reg, err := t.Registry()
	if err != nil {
		return err
	}
	o.Backend = reg.Names()[0]
	return nil
}
