package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// Plan evaluates the component and works out what would be submitted. Nothing
// is written or contacted. For --help of the component it prints that and
// returns component.ErrHelp.
func Plan(ctx context.Context, t *program.Factory, o RunOptions, conf *config.Config) (*runner.Planned, error) {
	if err := canPlan(t, o); err != nil {
		return nil, err
	}
	built, name, err := Build(ctx, t, &o, conf)
	if err != nil {
		return nil, err
	}
	q, err := PlanRequest(t, o, conf, built)
	if err != nil {
		return nil, err
	}
	q.Component = name
	r, err := t.Planner()
	if err != nil {
		return nil, err
	}
	return r.Plan(ctx, *q)
}

// canPlan refuses what a plan could not hold unchanged.
func canPlan(t *program.Factory, o RunOptions) error {
	if !filepath.IsAbs(t.Env.Dir) {
		return errors.New("the working folder does not exist any more: change to one that does")
	}
	if !utf8.ValidString(t.Env.Dir) {
		return fmt.Errorf("the name of the working folder %q is not valid UTF-8: change to one with another name", t.Env.Dir)
	}
	for _, arg := range slices.Concat(o.Inputs.Args, o.Env, []string{o.Cfg, o.Workspace, o.parentRunID}) {
		if !utf8.ValidString(arg) {
			return program.Usagef(o.Command, "argument %q is not valid UTF-8: pass such bytes in a file", arg)
		}
	}
	return nil
}

// Build finds and calls the component; name is what the history calls it. It
// completes the inputs in o.
func Build(ctx context.Context, t *program.Factory, o *RunOptions, conf *config.Config) (_ *component.Result, name string, err error) {
	loader, err := t.Loader()
	if err != nil {
		return nil, "", err
	}
	found, err := loader.Find(ctx, o.Component)
	if err != nil {
		return nil, "", err
	}
	if o.Inputs.Config == nil {
		o.Inputs.Config = conf.Component(found.Name)
	}
	built, err := found.Build(ctx, o.Inputs)
	if errors.Is(err, component.ErrHelp) {
		return nil, "", errors.Join(err, t.Print(ui.CleanStyled(found.Help(t.OutStyle.Color, ui.TerminalWidth(t.Out)))))
	}
	if err != nil {
		return nil, "", plainly(found, err)
	}
	for _, w := range built.Warnings {
		t.Warn("%s", w)
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
	if !strings.HasPrefix(c.File, "@torchx//") || !errors.As(err, &at) || errors.Is(err, program.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%s: %s", c.Name, strings.TrimPrefix(at.Msg, "fail: "))
}

func PlanRequest(t *program.Factory, o RunOptions, conf *config.Config, built *component.Result) (*runner.PlanRequest, error) {
	env, err := runner.ParseEnv(o.Env)
	if err != nil {
		return nil, program.Usagef(o.Command, "%v", err)
	}
	image, err := t.Image()
	if err != nil {
		return nil, err
	}
	layers, err := CfgLayers(t, o, conf)
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
	app, err := applyWorkspace(built.App, o.Workspace)
	if err != nil {
		return nil, err
	}
	q := &runner.PlanRequest{
		Backend: o.Backend, App: app, Cfg: layers, Env: env, Strict: o.strict,
		DefaultImage: image, Environ: replicaEnviron(t), Progress: t.Display.Tell,
		Tracking: runner.Tracking{ParentRunID: o.parentRunID, Trackers: conf.Trackers()},
		Provenance: runner.Provenance{Source: history.Source{
			Args: built.Args, Cwd: t.Env.Dir, Modules: modules, Getenv: getenv, Request: more,
		}},
	}
	if !o.HasWorkspace {
		q.Workspace, q.WorkspaceWhy = defaultWorkspace(t)
	}
	return q, nil
}

// CfgLayers are the options as given, the strongest first.
func CfgLayers(t *program.Factory, o RunOptions, conf *config.Config) ([]backend.Layer, error) {
	given := backend.JSONLayer(o.cfgJSON, "scheduler_args")
	if o.Cfg != "" {
		var err error
		if given, err = backend.CfgLayer(o.Cfg); err != nil {
			return nil, err
		}
	}
	r, err := t.Planner()
	if err != nil {
		return nil, err
	}
	if o.recordedCfg != nil {
		return []backend.Layer{given, o.recordedCfg}, nil
	}
	configured, err := r.ConfigLayer(conf, o.Backend)
	if err != nil {
		return nil, err
	}
	return []backend.Layer{given, configured}, nil
}

// replicaEnviron is what replicas start from: our own environment and, as
// TorchX sets it, the way the app was started.
func replicaEnviron(t *program.Factory) []string {
	return append(append([]string{}, t.Env.Vars...), "TORCHX_CONTEXT_NAME=cli_run")
}

// sayPlanned prints what planning has to say to people.
func sayPlanned(t *program.Factory, p *runner.Planned) {
	for _, w := range p.Warnings {
		t.Warn("%s", w)
	}
	for _, n := range p.Plan.Notes {
		t.Say("%s", n)
	}
}

// printPlan is the output of a dry run.
func printPlan(t *program.Factory, p *runner.Planned, asJSON bool) error {
	if asJSON {
		return t.PrintJSON(p)
	}
	app, err := t.MaskedYAML(p.Plan.App)
	if err != nil {
		return err
	}
	request, err := t.RequestYAML(p.Plan.Request)
	if err != nil {
		return err
	}
	return t.Printf("%s\n%s\n%s\n%s", t.OutStyle.Paint(ui.AnsiBold, "=== APPLICATION ==="), app,
		t.OutStyle.Paint(ui.AnsiBold, "=== SCHEDULER REQUEST ==="), request)
}
