package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// plan evaluates the component and works out what would be submitted. Nothing
// is written or contacted. For --help of the component it prints that and
// returns component.ErrHelp.
func (t *tool) plan(ctx context.Context, o runOptions, conf *config.Config) (*runner.Planned, error) {
	if err := t.canPlan(o); err != nil {
		return nil, err
	}
	built, name, err := t.build(ctx, &o, conf)
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

// canPlan refuses what a plan could not hold unchanged.
func (t *tool) canPlan(o runOptions) error {
	if !filepath.IsAbs(t.env.dir) {
		return errors.New("the working folder does not exist any more: change to one that does")
	}
	if !utf8.ValidString(t.env.dir) {
		return fmt.Errorf("the name of the working folder %q is not valid UTF-8: change to one with another name", t.env.dir)
	}
	for _, arg := range slices.Concat(o.inputs.Args, o.env, []string{o.cfg, o.workspace, o.parentRunID}) {
		if !utf8.ValidString(arg) {
			return usagef(o.command, "argument %q is not valid UTF-8: pass such bytes in a file", arg)
		}
	}
	return nil
}

// build finds and calls the component; name is what the history calls it. It
// completes the inputs in o.
func (t *tool) build(ctx context.Context, o *runOptions, conf *config.Config) (_ *component.Result, name string, err error) {
	loader, err := t.loader()
	if err != nil {
		return nil, "", err
	}
	found, err := loader.Find(ctx, o.component)
	if err != nil {
		return nil, "", err
	}
	if o.inputs.Config == nil {
		o.inputs.Config = conf.Component(found.Name)
	}
	built, err := found.Build(ctx, o.inputs)
	if errors.Is(err, component.ErrHelp) {
		return nil, "", errors.Join(err, t.print(cleanStyled(found.Help(t.outStyle.color, terminalWidth(t.out)))))
	}
	if err != nil {
		return nil, "", plainly(found, err)
	}
	for _, w := range built.Warnings {
		t.warn("%s", w)
	}
	if err := built.App.Validate(); err != nil {
		return nil, "", fmt.Errorf("%s: %w", found.Name, err)
	}
	return built, found.Name, nil
}

// plainly leaves out where in the built-in library an argument was refused: that
// is of no use to who gave it. Errors in files of the user's keep their place.
func plainly(c *component.Component, err error) error {
	var at *interp.Error
	if !strings.HasPrefix(c.File, "@torchx//") || !errors.As(err, &at) || errors.Is(err, errInterrupted) {
		return err
	}
	return fmt.Errorf("%s: %s", c.Name, strings.TrimPrefix(at.Msg, "fail: "))
}

func (t *tool) planRequest(o runOptions, conf *config.Config, built *component.Result) (*runner.PlanRequest, error) {
	env, err := runner.ParseEnv(o.env)
	if err != nil {
		return nil, usagef(o.command, "%v", err)
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
	more, err := o.asked(env, image)
	if err != nil {
		return nil, err
	}
	app, err := applyWorkspace(built.App, o.workspace)
	if err != nil {
		return nil, err
	}
	q := &runner.PlanRequest{
		Backend: o.backend, App: app, Cfg: layers, Env: env, Strict: o.strict,
		DefaultImage: image, Environ: t.replicaEnviron(), Progress: t.display.tell,
		Tracking: runner.Tracking{ParentRunID: o.parentRunID, Trackers: conf.Trackers()},
		Provenance: runner.Provenance{Source: history.Source{
			Args: built.Args, Cwd: t.env.dir, Modules: modules, Getenv: getenv, Request: more,
		}},
	}
	if !o.hasWorkspace {
		q.Workspace, q.WorkspaceWhy = t.defaultWorkspace()
	}
	return q, nil
}

// cfgLayers are the options as given, the strongest first.
func (t *tool) cfgLayers(o runOptions, conf *config.Config) ([]backend.Layer, error) {
	given := backend.JSONLayer(o.cfgJSON, "scheduler_args")
	if o.cfg != "" {
		var err error
		if given, err = backend.CfgLayer(o.cfg); err != nil {
			return nil, err
		}
	}
	r, err := t.planner()
	if err != nil {
		return nil, err
	}
	if o.recordedCfg != nil {
		return []backend.Layer{given, o.recordedCfg}, nil
	}
	configured, err := r.ConfigLayer(conf, o.backend)
	if err != nil {
		return nil, err
	}
	return []backend.Layer{given, configured}, nil
}

// replicaEnviron is what replicas start from: our own environment and, as
// TorchX sets it, the way the app was started.
func (t *tool) replicaEnviron() []string {
	return append(append([]string{}, t.env.vars...), "TORCHX_CONTEXT_NAME=cli_run")
}

// sayPlanned prints what planning has to say to people.
func (t *tool) sayPlanned(p *runner.Planned) {
	for _, w := range p.Warnings {
		t.warn("%s", w)
	}
	for _, n := range p.Plan.Notes {
		t.say("%s", n)
	}
}

// printPlan is the output of a dry run.
func (t *tool) printPlan(p *runner.Planned, asJSON bool) error {
	if asJSON {
		return t.printJSON(p)
	}
	app, err := t.maskedYAML(p.Plan.App)
	if err != nil {
		return err
	}
	request, err := t.requestYAML(p.Plan.Request)
	if err != nil {
		return err
	}
	return t.printf("%s\n%s\n%s\n%s", t.outStyle.paint(ansiBold, "=== APPLICATION ==="), app,
		t.outStyle.paint(ansiBold, "=== SCHEDULER REQUEST ==="), request)
}
