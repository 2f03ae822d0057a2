package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/starlark/component"
)

func (t *tool) rerunCommand() *cli.Command {
	o := runOptions{command: "rerun"}
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
			"An app that was submitted from a file is itself run again. One that had a terminal gets one, unless --tty=false is given. " + handleHelp,
		Flags: append(runFlags(&o, &env, "where to run: `BACKEND` (default: where it ran)"),
			&cli.BoolFlag{Name: "recorded", Usage: "run the app as it was recorded, without evaluating its component", Destination: &recorded},
		),
		Action: func(c *cli.Context) error {
			o.env, o.hasWorkspace = env.Value(), c.IsSet("workspace")
			o.hasTTY = c.IsSet("tty")
			o.inputs.Args = c.Args().Tail()
			if c.NArg() == 0 {
				return usagef("rerun", "missing HANDLE")
			}
			if err := o.check(); err != nil {
				return err
			}
			return t.rerun(c.Context, o, c.Args().First(), recorded)
		},
	}
}

func (t *tool) rerun(ctx context.Context, o runOptions, text string, exact bool) error {
	past, err := t.recorded(ctx, text)
	if err != nil {
		return err
	}
	if err := t.moveTo(past); err != nil {
		return err
	}
	was, err := readAsked(past.Request)
	if err != nil {
		return fmt.Errorf("%s: %w", past.Ref.Handle(), err)
	}
	o.take(was)
	if err := t.chooseWhere(&o, past, was.TTY); err != nil {
		return err
	}
	conf, err := t.config()
	if err != nil {
		return err
	}
	planned, err := t.planAgain(ctx, o, conf, past, exact)
	if errors.Is(err, component.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.carryOut(ctx, planned, o)
}

// recorded finds the app that text means, and what it was made from.
func (t *tool) recorded(ctx context.Context, text string) (*runner.Recorded, error) {
	r, err := t.runner(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := r.Resolve(ctx, text)
	if err != nil {
		return nil, err
	}
	return r.Recorded(ctx, ref)
}

// moveTo makes everything from here on happen as if it were typed in the folder
// that the app was run in.
func (t *tool) moveTo(past *runner.Recorded) error {
	if past.Cwd == "" {
		return nil
	}
	if info, err := os.Stat(past.Cwd); err != nil || !info.IsDir() {
		return fmt.Errorf("the folder %s, which %s was run in, does not exist any more: make it again, or `torchx run` the component elsewhere",
			past.Cwd, past.Ref.Handle())
	}
	t.env.dir = past.Cwd
	if _, ok := t.env.lookup("PWD"); ok {
		t.env.vars = append(append([]string{}, t.env.vars...), "PWD="+past.Cwd)
	}
	t.conf = nil
	return nil
}

// chooseWhere takes backend and options of the app, and whether it was on a terminal,
// unless it is to run elsewhere: another backend has other options.
func (t *tool) chooseWhere(o *runOptions, past *runner.Recorded, tty bool) error {
	if o.backend == "" {
		o.backend = past.Ref.Backend
	}
	alias, err := t.canonical("rerun", o.backend)
	if err != nil {
		return err
	}
	if alias.Backend == past.Ref.Backend {
		if !o.hasTTY {
			o.follow.tty.on = tty
		}
		o.recordedCfg = append(backend.DefaultsLayer(alias.Defaults, o.backend), backend.JSONLayer(past.Cfg, past.Ref.Handle())...)
	}
	return nil
}

// planAgain plans what the component returns now, or the recorded app itself.
func (t *tool) planAgain(ctx context.Context, o runOptions, conf *config.Config, past *runner.Recorded, exact bool) (*runner.Planned, error) {
	if err := t.canPlan(o); err != nil {
		return nil, err
	}
	var q *runner.PlanRequest
	var err error
	if exact || !past.Evaluated() {
		q, err = t.planRecorded(ctx, o, conf, past)
	} else {
		q, err = t.planEvaluated(ctx, o, conf, past)
	}
	if err != nil {
		return nil, err
	}
	q.Origin = "rerun of " + past.Ref.Handle()
	r, err := t.planner()
	if err != nil {
		return nil, err
	}
	return r.Plan(ctx, *q)
}

func (t *tool) planEvaluated(ctx context.Context, o runOptions, conf *config.Config, past *runner.Recorded) (*runner.PlanRequest, error) {
	o.component, o.inputs.Recorded = past.Component, past.Args
	built, name, err := t.build(ctx, &o, conf)
	if errors.Is(err, component.ErrHelp) {
		return nil, err
	}
	t.sayChanges(past, built)
	if err != nil {
		return nil, err
	}
	q, err := t.planRequest(o, conf, built)
	if err != nil {
		return nil, err
	}
	q.Component = name
	words := []string{name}
	for _, arg := range built.Args {
		words = append(words, quoteWord(arg))
	}
	t.say("rerun of %s: %s", past.Ref.Handle(), strings.Join(words, " "))
	return q, nil
}

// planRecorded takes the app as it was, whatever its component returns now.
func (t *tool) planRecorded(_ context.Context, o runOptions, conf *config.Config, past *runner.Recorded) (*runner.PlanRequest, error) {
	if len(o.inputs.Args) > 0 {
		if past.Evaluated() {
			return nil, usagef("rerun", "--recorded runs the app as it was: arguments cannot be changed with it")
		}
		return nil, usagef("rerun", "%s was not made by a component but submitted from a file, so it has no arguments to change", past.Ref.Handle())
	}
	q, err := t.recordedRequest(o, conf, past)
	if err != nil {
		return nil, err
	}
	if past.Evaluated() {
		t.say("rerun of %s as it was recorded", past.Ref.Handle())
	} else {
		t.say("rerun of %s as it was recorded: it was submitted from a file, not made by a component", past.Ref.Handle())
	}
	return q, nil
}

// recordedRequest asks for the app as it was.
func (t *tool) recordedRequest(o runOptions, conf *config.Config, past *runner.Recorded) (*runner.PlanRequest, error) {
	o.hasWorkspace = true // it is a part of the app
	q, err := t.planRequest(o, conf, &component.Result{App: past.App, Args: past.Args})
	if err != nil {
		return nil, err
	}
	q.Component, q.Modules, q.Getenv = past.Component, past.Modules, past.Getenv
	return q, nil
}
