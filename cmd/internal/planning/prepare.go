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

// App is an app to plan. Source says from which component it comes, if from any: its Component,
// Args, Modules and Getenv.
type App struct {
	Spec   *spec.App
	Source history.Source
}

// FromComponent returns the app that a component returned.
func FromComponent(built *component.Result) (app App, err error) {
	app = App{built.App, history.Source{Component: built.Component, Args: built.Args}}
	if app.Source.Modules, err = json.Marshal(built.Modules); err != nil {
		return app, fmt.Errorf("encode modules: %w", err)
	}
	if app.Source.Getenv, err = json.Marshal(built.Getenv); err != nil {
		return app, fmt.Errorf("encode environment: %w", err)
	}
	return app, nil
}

// Planner plans apps with the same options, whatever their components return.
type Planner struct {
	*runner.Runner                    // without a history
	Common         runner.PlanRequest // without an app and its component
	options        Options
	secret         []string // names of the variables whose values are secrets
}

// Prepare reads the files and settings that the options name.
func Prepare(
	ctx context.Context, f *program.Factory, o Options, conf *config.Config,
) (*Planner, error) {
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
	r, err := f.Planner()
	if err != nil {
		return nil, err
	}
	p := &Planner{Runner: r, options: o, secret: env.secret, Common: runner.PlanRequest{
		Backend: o.Backend, Cfg: layers, Env: env.values, Strict: o.Strict,
		DefaultImage: image, Environ: ReplicaEnviron(f), Progress: f.Display.Tell,
		Tracking: runner.Tracking{ParentRunID: o.ParentRunID, Trackers: conf.Trackers()},
		Provenance: runner.Provenance{
			Source: history.Source{Cwd: f.Env.Dir, Request: record}, Labels: labels, DefaultTags: defaults,
		},
	}}
	if !o.HasWorkspace {
		p.Common.Workspace, p.Common.WorkspaceWhy = defaultWorkspace(f)
	}
	return p, nil
}

// Request returns the request for the plan of an app.
func (p *Planner) Request(app App) (q runner.PlanRequest, err error) {
	q, from := p.Common, &app.Source
	q.Component, q.Args, q.Modules, q.Getenv = from.Component, from.Args, from.Modules, from.Getenv
	q.App, err = p.apply(app.Spec)
	return q, err
}

// apply returns the app with what the options change in it.
func (p *Planner) apply(app *spec.App) (*spec.App, error) {
	o := &p.options
	var err error
	if o.Workspace != "" {
		app, err = applyWorkspace(app, o.Workspace)
	}
	if err == nil && o.Timeout != "" {
		app, err = applyTimeout(app, o)
	}
	if err == nil && len(o.Metrics) > 0 {
		app, err = applyMetrics(app, o)
	}
	if err == nil && len(p.secret) > 0 {
		app = app.Clone()
		app.AddSecretEnv(p.secret)
	}
	return app, err
}

// LoadOptions returns what the options say about a saved plan.
func LoadOptions(f *program.Factory, o Options) (l runner.LoadOptions, err error) {
	l = runner.LoadOptions{
		Backend: o.Backend, Cwd: f.Env.Dir, Environ: ReplicaEnviron(f), Progress: f.Display.Tell,
	}
	if l.Timeout, err = ParseTimeout(o.Command, o.Timeout); err != nil {
		return l, err
	}
	conf, err := f.Config()
	if err != nil {
		return l, err
	}
	if l.DefaultImage, err = f.Image(); err != nil {
		return l, err
	}
	l.Labels, l.DefaultTags, err = Labels(o.Command, o.Tags, o.Note, conf)
	return l, err
}
