package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"torchx/backends"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

// runOptions is what `run` is asked to do, from flags, --stdin and [cli:run].
type runOptions struct {
	backend     string
	cfg         string
	cfgJSON     map[string]any // of --stdin, instead of cfg
	dryrun      bool
	json        bool
	follow      followOptions
	workspace   string
	parentRunID string
	env         []string
	strict      bool
	component   string
	inputs      component.Inputs
}

func (t *tool) runCommand() *cli.Command {
	o := runOptions{}
	var stdin, tee bool
	env := cli.StringSlice{}
	return &cli.Command{
		Name:  "run",
		Usage: "run a component",
		UsageText: "[options] COMPONENT [component arguments]\n" +
			"torchx run utils.echo --msg hello\n" +
			"torchx run components/dist.star:ddp --nnodes 2 --script train.py\n" +
			"torchx run -d --env LR=0.1 my.star:train --epochs 3\n" +
			"torchx run --dryrun -b local utils.sh -c 'echo $HOME'",
		Description: "Run a component: built in (`torchx builtins`) or FILE.star:FUNCTION. What stands behind it is its own: " +
			"`torchx run COMPONENT --help` explains its arguments. The handle of the app goes to stdout; the output of replicas, on stderr, " +
			"is followed to the end unless -d is given. Ctrl-C cancels the app, twice kills it. The exit code is the app's own.",
		Flags: append([]cli.Flag{
			backendFlag(&o.backend, "where to run: `BACKEND` (default: the first of torchx runopts)"),
			cfgFlag(&o.cfg),
			&cli.BoolFlag{Name: "dryrun", Aliases: []string{"dry-run"}, Usage: "print what would be submitted, and do nothing", Destination: &o.dryrun},
			&cli.BoolFlag{Name: "json", Usage: "with --dryrun: JSON, as torchx submit reads it", Destination: &o.json},
			&cli.StringSliceFlag{Name: "env", Usage: "set a variable in every role, `K=V` (repeatable)", Destination: &env},
			&cli.BoolFlag{Name: "strict", Usage: "refuse a role that does not say which resources it needs", Destination: &o.strict},
			&cli.StringFlag{Name: "workspace", Aliases: []string{"buck-target"}, Usage: "local project `FOLDER` to put into the image of the first role", Destination: &o.workspace},
			&cli.StringFlag{Name: "parent_run_id", Usage: "`ID` of the run this one belongs to", Destination: &o.parentRunID},
			&cli.BoolFlag{Name: "stdin", Usage: "read what to run from stdin, as JSON", Destination: &stdin},
			&cli.BoolFlag{Name: "tee_logs", Usage: "accepted; logs are always kept and shown", Destination: &tee},
		}, followFlags(&o.follow)...),
		Action: func(c *cli.Context) (err error) {
			o.env = env.Value()
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

func (t *tool) run(ctx context.Context, o runOptions) error {
	if o.json && !o.dryrun {
		return usagef("run", "--json goes with --dryrun only")
	}
	if err := o.follow.check("run"); err != nil {
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
	for _, w := range planned.Warnings {
		t.warn("%s", w)
	}
	if o.dryrun {
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
	if o.workspace == "" {
		o.workspace = defaults["workspace"]
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
		_, err := t.canonical("run", o.backend)
		return err
	}
	reg, err := t.registry()
	if err != nil {
		return err
	}
	o.backend = reg.Names()[0]
	return nil
}

// plan evaluates the component and works out what would be submitted. Nothing
// is written or contacted. For --help of the component it prints that and
// returns component.ErrHelp.
func (t *tool) plan(ctx context.Context, o runOptions, conf *config.Config) (*runner.Planned, error) {
	built, name, err := t.build(ctx, o, conf)
	if err != nil {
		return nil, err
	}
	q, err := t.planRequest(o, conf, built)
	if err != nil {
		return nil, err
	}
	q.Component = name
	r, err := t.planner()
	if err != nil {
		return nil, err
	}
	return r.Plan(ctx, *q)
}

// build finds and calls the component; name is what the history calls it.
func (t *tool) build(ctx context.Context, o runOptions, conf *config.Config) (_ *component.Result, name string, err error) {
	loader, err := t.loader()
	if err != nil {
		return nil, "", err
	}
	found, err := loader.Find(ctx, o.component)
	if err != nil {
		return nil, "", err
	}
	o.inputs.Config = conf.Component(found.Name)
	built, err := found.Build(ctx, o.inputs)
	if errors.Is(err, component.ErrHelp) {
		return nil, "", errors.Join(err, t.print(found.Help(t.outStyle.color, terminalWidth(t.out))))
	}
	if err != nil {
		return nil, "", err
	}
	for _, w := range built.Warnings {
		t.warn("%s", w)
	}
	return built, found.Name, nil
}

func (t *tool) planRequest(o runOptions, conf *config.Config, built *component.Result) (*runner.PlanRequest, error) {
	env, err := runner.ParseEnv(o.env)
	if err != nil {
		return nil, usagef("run", "%v", err)
	}
	image, err := t.image()
	if err != nil {
		return nil, err
	}
	layers, err := t.cfgLayers(o, conf)
	if err != nil {
		return nil, err
	}
	modules, err := json.Marshal(built.Modules)
	if err != nil {
		return nil, fmt.Errorf("encode modules: %w", err)
	}
	getenv, err := json.Marshal(built.Getenv)
	if err != nil {
		return nil, fmt.Errorf("encode environment: %w", err)
	}
	app := built.App
	if o.workspace != "" && len(app.Roles) > 0 {
		app = app.Clone()
		app.Roles[0].Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: o.workspace}}}
	}
	return &runner.PlanRequest{
		Backend: o.backend, App: app, Cfg: layers, Env: env, Strict: o.strict, Cwd: t.env.dir,
		DefaultImage: image, ParentRunID: o.parentRunID, Trackers: conf.Trackers(), Environ: t.replicaEnviron(),
		Args: built.Args, Modules: modules, Getenv: getenv,
	}, nil
}

// cfgLayers are the options as given, the strongest first.
func (t *tool) cfgLayers(o runOptions, conf *config.Config) ([]backends.Layer, error) {
	given := backends.JSONLayer(o.cfgJSON, "scheduler_args")
	if o.cfg != "" {
		var err error
		if given, err = backends.CfgLayer(o.cfg); err != nil {
			return nil, err
		}
	}
	r, err := t.planner()
	if err != nil {
		return nil, err
	}
	configured, err := r.ConfigLayer(conf, o.backend)
	if err != nil {
		return nil, err
	}
	return []backends.Layer{given, configured}, nil
}

// replicaEnviron is what replicas start from: our own environment and, as
// TorchX sets it, the way the app was started.
func (t *tool) replicaEnviron() []string {
	return append(append([]string{}, t.env.vars...), "TORCHX_CONTEXT_NAME=cli_run")
}

// printPlan is the output of a dry run.
func (t *tool) printPlan(p *runner.Planned, asJSON bool) error {
	if asJSON {
		return t.printJSON(p)
	}
	app, err := yamlText(p.Plan.App)
	if err != nil {
		return err
	}
	request, err := yamlText(p.Plan.Request)
	if err != nil {
		return err
	}
	return t.printf("%s\n%s\n%s\n%s", t.outStyle.paint(ansiBold, "=== APPLICATION ==="), app,
		t.outStyle.paint(ansiBold, "=== SCHEDULER REQUEST ==="), request)
}
