package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/starlark/component"
)

func NewRerun(t *program.Factory) *cli.Command {
	o := RunOptions{Command: "rerun"}
	var recorded bool
	env := cli.StringSlice{}
	return &cli.Command{
		Name:  "rerun",
		Usage: "run a past app again, with the same or changed arguments",
		UsageText: "[options] HANDLE [component arguments]\n" +
			"torchx rerun -\n" +
			"torchx rerun -d sweep-c7rn --steps 20\n" +
			"torchx rerun -cfg fail_fast=false --env LR=0.2 -\n" +
			"torchx rerun --dryrun -",
		Description: "Evaluate the component of an app again, in the folder it was run in, with the arguments, variables and options it had, " +
			"and run the result as a new app. What is given here replaces what was given then: an argument that of the same name, " +
			"values behind `--` all of them. It warns when component files, environment variables that the component read or named resources have changed since. " +
			"An app that was submitted from a file is itself run again. One that had a terminal gets one, unless --tty=false is given. " + program.HandleHelp,
		Flags: append(runFlags(&o, &env, "where to run: `BACKEND` (default: where it ran)"),
			&cli.BoolFlag{Name: "recorded", Usage: "run the app as it was recorded, without evaluating its component", Destination: &recorded},
		),
		Action: func(c *cli.Context) error {
			o.Env, o.HasWorkspace = env.Value(), c.IsSet("workspace")
			o.hasTTY = c.IsSet("tty")
			o.Inputs.Args = c.Args().Tail()
			if c.NArg() == 0 {
				return program.Usagef("rerun", "missing HANDLE")
			}
			if err := o.check(); err != nil {
				return err
			}
			return rerun(c.Context, t, o, c.Args().First(), recorded)
		},
	}
}

func rerun(ctx context.Context, t *program.Factory, o RunOptions, text string, exact bool) error {
	past, err := Recorded(ctx, t, text)
	if err != nil {
		return err
	}
	if t, err = FolderOf(t, past); err != nil {
		return err
	}
	was, err := ReadAsked(past.Request)
	if err != nil {
		return fmt.Errorf("%s: %w", past.Ref.Handle(), err)
	}
	o.Take(was)
	if err := ChooseWhere(t, &o, past, was.TTY); err != nil {
		return err
	}
	conf, err := t.Config()
	if err != nil {
		return err
	}
	planned, err := planAgain(ctx, t, o, conf, past, exact)
	if errors.Is(err, component.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return carryOut(ctx, t, planned, o)
}

// Recorded finds the app that text means, and what it was made from.
func Recorded(ctx context.Context, t *program.Factory, text string) (*runner.Recorded, error) {
	r, err := t.Runner(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := r.Resolve(ctx, text)
	if err != nil {
		return nil, err
	}
	return r.Recorded(ctx, ref)
}

// FolderOf returns a factory that works in the folder that the app was run in.
func FolderOf(f *program.Factory, past *runner.Recorded) (*program.Factory, error) {
	if past.Cwd == "" {
		return f, nil
	}
	if info, err := os.Stat(past.Cwd); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the folder %s, which %s was run in, does not exist any more: make it again, or `torchx run` the component elsewhere",
			past.Cwd, past.Ref.Handle())
	}
	return f.InDir(past.Cwd), nil
}

// ChooseWhere takes backend and options of the app, and whether it was on a terminal,
// unless it is to run elsewhere: another backend has other options.
func ChooseWhere(t *program.Factory, o *RunOptions, past *runner.Recorded, tty bool) error {
	if o.Backend == "" {
		o.Backend = past.Ref.Backend
	}
	alias, err := t.Canonical("rerun", o.Backend)
	if err != nil {
		return err
	}
	if alias.Backend == past.Ref.Backend {
		if !o.hasTTY {
			o.follow.Tty.On = tty
		}
		o.recordedCfg = append(backend.DefaultsLayer(alias.Defaults, o.Backend), backend.JSONLayer(past.Cfg, past.Ref.Handle())...)
	}
	return nil
}

// planAgain plans what the component returns now, or the recorded app itself.
func planAgain(ctx context.Context, t *program.Factory, o RunOptions, conf *config.Config, past *runner.Recorded, exact bool) (*runner.Planned, error) {
	if err := canPlan(t, o); err != nil {
		return nil, err
	}
	var q *runner.PlanRequest
	var err error
	if exact || !past.Evaluated() {
		q, err = planRecorded(ctx, t, o, conf, past)
	} else {
		q, err = planEvaluated(ctx, t, o, conf, past)
	}
	if err != nil {
		return nil, err
	}
	q.Origin = "rerun of " + past.Ref.Handle()
	r, err := t.Planner()
	if err != nil {
		return nil, err
	}
	return r.Plan(ctx, *q)
}

func planEvaluated(ctx context.Context, t *program.Factory, o RunOptions, conf *config.Config, past *runner.Recorded) (*runner.PlanRequest, error) {
	o.Component, o.Inputs.Recorded = past.Component, past.Args
	built, name, err := Build(ctx, t, &o, conf)
	if errors.Is(err, component.ErrHelp) {
		return nil, err
	}
	sayChanges(t, past, built)
	if err != nil {
		return nil, err
	}
	q, err := PlanRequest(t, o, conf, built)
	if err != nil {
		return nil, err
	}
	q.Component = name
	words := []string{name}
	for _, arg := range built.Args {
		words = append(words, ui.QuoteWord(arg))
	}
	t.Say("rerun of %s: %s", past.Ref.Handle(), strings.Join(words, " "))
	return q, nil
}

// planRecorded takes the app as it was, whatever its component returns now.
func planRecorded(_ context.Context, t *program.Factory, o RunOptions, conf *config.Config, past *runner.Recorded) (*runner.PlanRequest, error) {
	if len(o.Inputs.Args) > 0 {
		if past.Evaluated() {
			return nil, program.Usagef("rerun", "--recorded runs the app as it was: arguments cannot be changed with it")
		}
		return nil, program.Usagef("rerun", "%s was not made by a component but submitted from a file, so it has no arguments to change", past.Ref.Handle())
	}
	q, err := RecordedRequest(t, o, conf, past)
	if err != nil {
		return nil, err
	}
	if past.Evaluated() {
		t.Say("rerun of %s as it was recorded", past.Ref.Handle())
	} else {
		t.Say("rerun of %s as it was recorded: it was submitted from a file, not made by a component", past.Ref.Handle())
	}
	return q, nil
}

// RecordedRequest asks for the app as it was.
func RecordedRequest(t *program.Factory, o RunOptions, conf *config.Config, past *runner.Recorded) (*runner.PlanRequest, error) {
	o.HasWorkspace = true // it is a part of the app
	q, err := PlanRequest(t, o, conf, &component.Result{App: past.App, Args: past.Args})
	if err != nil {
		return nil, err
	}
	q.Component, q.Modules, q.Getenv = past.Component, past.Modules, past.Getenv
	return q, nil
}
