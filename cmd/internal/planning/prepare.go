package planning

import (
	"context"
	"encoding/json"
	"fmt"

	"torchx/cmd/internal/program"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

// Prepared holds what all plans of some options have in common, whatever the arguments of the
// component are.
type Prepared struct {
	options Options
	secret  []string           // names of the variables whose values are secrets
	common  runner.PlanRequest // without App, Args, Modules and Getenv
}

// Prepare reads the files and settings that the options name.
func Prepare(
	ctx context.Context, f *program.Factory, o Options, conf *config.Config,
) (*Prepared, error) {
	layers, err := CfgLayers(f, o, conf)
	if err != nil {
		return nil, err
	}
	if err := o.checkConsent(ctx, f, conf, layers); err != nil {
		return nil, err
	}
	env, err := o.variables(ctx, f, conf)
	if err != nil {
		return nil, err
	}
	image, err := f.Image()
	if err != nil {
		return nil, err
	}
	record, err := o.record(env, image)
	if err != nil {
		return nil, err
	}
	labels, defaults, err := Labels(o.Command, o.Tags, o.Note, conf)
	if err != nil {
		return nil, err
	}
	p := &Prepared{options: o, secret: env.secret, common: runner.PlanRequest{
		Backend: o.Backend, Cfg: layers, Env: env.values, Strict: o.Strict,
		DefaultImage: image, Environ: ReplicaEnviron(f), Progress: f.Display.Tell,
		Tracking: runner.Tracking{ParentRunID: o.ParentRunID, Trackers: conf.Trackers()},
		Provenance: runner.Provenance{
			Source: history.Source{Cwd: f.Env.Dir, Request: record}, Labels: labels, DefaultTags: defaults,
		},
	}}
	if !o.HasWorkspace {
		p.common.Workspace, p.common.WorkspaceWhy = defaultWorkspace(f)
	}
	return p, nil
}

// Common returns the part of the request that does not depend on what the component returns.
func (p *Prepared) Common() runner.PlanRequest { return p.common }

// Request returns the request for a plan of the app that a component returned.
func (p *Prepared) Request(built *component.Result) (*runner.PlanRequest, error) {
	modules, err := json.Marshal(built.Modules)
	if err != nil {
		return nil, fmt.Errorf("encode modules: %w", err)
	}
	getenv, err := json.Marshal(built.Getenv)
	if err != nil {
		return nil, fmt.Errorf("encode environment: %w", err)
	}
	q := p.common
	q.Args, q.Modules, q.Getenv = built.Args, modules, getenv
	q.App, err = p.apply(built.App)
	return &q, err
}

// apply returns the app with what the options change in it.
func (p *Prepared) apply(app *spec.App) (*spec.App, error) {
	app, err := applyWorkspace(app, p.options.Workspace)
	if err == nil {
		app, err = applyTimeout(app, p.options)
	}
	if err == nil {
		app, err = applyMetrics(app, p.options)
	}
	if err == nil && len(p.secret) > 0 {
		app = app.Clone()
		app.AddSecretEnv(p.secret)
	}
	return app, err
}

// Request returns the request for a plan: the app that a component returned, with options.
func Request(ctx context.Context, f *program.Factory, o Options, conf *config.Config,
	built *component.Result,
) (*runner.PlanRequest, error) {
	p, err := Prepare(ctx, f, o, conf)
	if err != nil {
		return nil, err
	}
	return p.Request(built)
}
