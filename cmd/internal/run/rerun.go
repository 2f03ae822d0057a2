package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/starlark/component"
)

// RerunSweep submits a past sweep again as a new one, with the trials that it has, and shows it
// unless how has Detach.
type RerunSweep func(ctx context.Context, f *program.Factory, o planning.Options, past *runner.Recorded, how follow.Options) error

// NewRerun returns the command `rerun`.
func NewRerun(f *program.Factory, sweep RerunSweep) *cli.Command {
	o := options{Options: planning.Options{Command: "rerun"}}
	var recorded bool
	env, envFiles, tags, onEnd, metrics, after := cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}
	return &cli.Command{
		Name:  "rerun",
		Usage: "run a past app again",
		UsageText: "[options] HANDLE [component arguments]\n" +
			"torchx rerun -\n" +
			"torchx rerun - --msg bye\n" +
			"torchx rerun -d --env LR=0.2 -\n" +
			"torchx rerun --dryrun -cfg fail_fast=false -",
		Description: "Evaluate the component of an app again, in the folder where it was run, with the same arguments, variables and " +
			"options, and run the result as a new app. What you give here overrides what was given then: an argument by name, " +
			"arguments after `--` all together. rerun warns if component files, environment variables that the component read, or " +
			"named resources have changed, or the git commit or uncommitted changes of the folder differ. An app that was submitted from a file is submitted again, and a sweep with the trials that it has. An app that had a terminal " +
			"gets one, unless --tty=false is given. " +
			program.HandleHelp,
		Flags: append(runFlags(&o, &env, &envFiles, &tags, &onEnd, &metrics, &after, "run on `BACKEND` (default: that of the past app)"),
			&cli.BoolFlag{Name: "recorded", Usage: "run the app as it was recorded, without evaluating its component", Destination: &recorded},
		),
		Action: func(c *cli.Context) error {
			o.EnvFiles, o.OnEnd, o.HasOnEnd = absolute(f, envFiles.Value()), onEnd.Value(), c.IsSet("on-end")
			o.Env, o.Tags, o.Metrics, o.HasWorkspace = env.Value(), tags.Value(), metrics.Value(), c.IsSet("workspace")
			o.hasTTY, o.After = c.IsSet("tty"), after.Value()
			o.Inputs.Args = c.Args().Tail()
			if c.NArg() == 0 {
				return program.Missing(c, "HANDLE")
			}
			if err := o.check(); err != nil {
				return err
			}
			return rerun(c.Context, f, o, c.Args().First(), recorded, sweep)
		},
	}
}

func rerun(
	ctx context.Context, f *program.Factory, o options, text string, exact bool, sweep RerunSweep,
) error {
	o.TTY = o.follow.Tty.On
	past, err := planning.PastApp(ctx, f, text)
	if err != nil {
		return err
	}
	if past.Ref.Backend == history.Imported {
		return fmt.Errorf("%s was imported, and runs again only where it came from: `torchx describe %s` shows what to `torchx run` here", past.Ref.Handle(), past.Ref.ID)
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	isSweep := r.IsSweep(past.Ref)
	if isSweep && len(o.After) > 0 {
		return program.Usagef("rerun", "--after is for apps, and %s is a sweep: wait with `torchx wait`, then run it", past.Ref.Handle())
	}
	if isSweep && (o.changesPlan() || o.dryrun) {
		return program.Usagef("rerun", "%s is a sweep, which runs again with the trials that it has: use `torchx sweep` to change them", past.Ref.Handle())
	}
	if f, o.Options, err = planning.RerunOptions(f, o.Options, past); err != nil {
		return err
	}
	if isSweep {
		o.Submit = true
		return sweep(ctx, f, o.Options, past, o.follow)
	}
	if !o.hasTTY {
		o.follow.Tty.On = o.TTY
	}
	o.TTY, o.Submit = o.follow.Tty.On, !o.dryrun
	conf, err := f.Config()
	if err != nil {
		return err
	}
	planned, err := planAgain(ctx, f, o, conf, past, exact)
	if errors.Is(err, component.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return execute(ctx, f, planned, o)
}

// changesPlan reports whether the command line has what changes the plan of an app.
func (o *options) changesPlan() bool {
	return o.Backend != "" || o.Cfg != "" || o.HasWorkspace || o.Timeout != "" ||
		o.Strict || o.hasTTY ||
		len(o.Inputs.Args)+len(o.Env)+len(o.EnvFiles)+len(o.Metrics) > 0
}

// planAgain plans what the component returns now, or the recorded app if exact is set.
func planAgain(ctx context.Context, f *program.Factory, o options, conf *config.Config,
	past *runner.Recorded, exact bool,
) (*runner.Planned, error) {
	if err := planning.Check(f, o.Options); err != nil {
		return nil, err
	}
	sayCheckoutChanges(ctx, f, past)
	var app planning.App
	var what string
	var err error
	if exact || !past.Evaluated() {
		app, what, err = recordedApp(&o, past)
	} else {
		app, what, err = evaluatedApp(ctx, f, &o, conf, past)
	}
	if err != nil {
		return nil, err
	}
	p, err := planning.Prepare(ctx, f, o.Options, conf)
	if err != nil {
		return nil, err
	}
	q, err := p.Request(app)
	if err != nil {
		return nil, err
	}
	f.Say("rerun of %s%s", past.Ref.Handle(), what)
	q.Origin = "rerun of " + past.Ref.Handle()
	planning.Inherit(&q, past)
	if len(q.Tags) > 0 {
		f.Say("tags: %s", history.FormatTags(q.Tags, " "))
	}
	return p.Plan(ctx, q)
}

// evaluatedApp returns what the component returns now, and its command line.
func evaluatedApp(
	ctx context.Context, f *program.Factory, o *options, conf *config.Config, past *runner.Recorded,
) (app planning.App, what string, err error) {
	o.Component, o.Inputs.Recorded = past.Component, past.Args
	built, err := planning.Evaluate(ctx, f, &o.Options, conf)
	if errors.Is(err, component.ErrHelp) {
		return app, "", err
	}
	sayChanges(f, past, built)
	if err != nil {
		return app, "", err
	}
	app, err = planning.FromComponent(built)
	return app, ": " + planning.CommandText(f, built.Component, built.Args), err
}

// recordedApp returns the app as it was recorded, whatever its component returns now.
func recordedApp(o *options, past *runner.Recorded) (app planning.App, what string, err error) {
	if len(o.Inputs.Args) > 0 {
		if past.Evaluated() {
			return app, "", program.Usagef("rerun", "--recorded runs the app as it was recorded: arguments cannot be changed")
		}
		return app, "", program.Usagef("rerun", "%s was submitted from a file, not made by a component: it has no arguments to change", past.Ref.Handle())
	}
	what = " as it was recorded"
	if !past.Evaluated() {
		what += ": it was submitted from a file, not made by a component"
	}
	return planning.FromRecord(past, &o.Options), what, nil
}
