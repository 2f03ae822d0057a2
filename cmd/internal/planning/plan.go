// Package planning makes the plans that run, rerun, sweep and diff use. It submits nothing.
//
//	Evaluate         a component and its arguments ──► its result ──► App
//	Prepare          options of the command line, the history and .torchxconfig ──► Planner
//	Planner.Request  App ──► runner.PlanRequest, of which Planner.Plan makes the plan
//
// Plan takes an App through the last two steps, PlanComponent a component through all.
package planning

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
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

// PlanComponent evaluates the component and plans its app. For the component's --help it prints
// the help and returns component.ErrHelp.
func PlanComponent(
	ctx context.Context, f *program.Factory, o Options, conf *config.Config,
) (*runner.Planned, error) {
	if err := Check(f, o); err != nil {
		return nil, err
	}
	built, err := Evaluate(ctx, f, &o, conf)
	if err != nil {
		return nil, err
	}
	app, err := FromComponent(built)
	if err != nil {
		return nil, err
	}
	return Plan(ctx, f, o, conf, app)
}

// Plan plans an app for the backend of the options, without writing or contacting anything.
func Plan(
	ctx context.Context, f *program.Factory, o Options, conf *config.Config, app App,
) (*runner.Planned, error) {
	p, err := Prepare(ctx, f, o, conf)
	if err != nil {
		return nil, err
	}
	q, err := p.Request(app)
	if err != nil {
		return nil, err
	}
	return p.Plan(ctx, q)
}

// Check returns an error for values that a plan cannot hold unchanged.
func Check(f *program.Factory, o Options) error {
	if !filepath.IsAbs(f.Env.Dir) {
		return errors.New("the working folder was deleted: change to another folder")
	}
	if !utf8.ValidString(f.Env.Dir) {
		return fmt.Errorf("the name of the working folder %q is not valid UTF-8: change to a folder with another name", f.Env.Dir)
	}
	for _, arg := range slices.Concat(o.Inputs.Args, o.Env, o.Tags, o.Metrics, []string{o.Note, o.Timeout, o.Cfg, o.Workspace, o.ParentRunID}) {
		if !utf8.ValidString(arg) {
			return program.Usagef(o.Command, "argument %q is not valid UTF-8: pass such bytes in a file", arg)
		}
	}
	return nil
}

// Evaluate finds and calls the component. It completes the inputs in o.
func Evaluate(
	ctx context.Context, f *program.Factory, o *Options, conf *config.Config,
) (*component.Result, error) {
	found, err := Find(ctx, f, o, conf)
	if err != nil {
		return nil, err
	}
	return Call(ctx, f, found, o.Inputs)
}

// Find returns the component and completes the inputs in o. It executes the component's file,
// but does not call the component.
func Find(
	ctx context.Context, f *program.Factory, o *Options, conf *config.Config,
) (*component.Component, error) {
	loader, err := f.Loader()
	if err != nil {
		return nil, err
	}
	found, err := loader.Find(ctx, o.Component)
	if err != nil {
		return nil, withProgramHint(f, err, o)
	}
	if o.Inputs.Config == nil {
		name, ignored := conf.ComponentName(found.ConfigNames())
		for _, w := range ignored {
			f.Warn("%s", w)
		}
		o.Inputs.Config, o.Inputs.ConfigName = conf.Component(name), name
		o.useArguments(found, conf)
	}
	return found, nil
}

// Call calls a component and validates its app. For --help it prints the help and returns
// component.ErrHelp.
func Call(
	ctx context.Context, f *program.Factory, found *component.Component, in component.Inputs,
) (*component.Result, error) {
	built, err := found.Build(ctx, in)
	if errors.Is(err, component.ErrHelp) {
		text := found.Help(f.OutStyle.Color, ui.TerminalWidth(f.Out), configDefaults(f, found, in))
		return nil, errors.Join(err, f.Print(ui.CleanStyled(text)))
	}
	if err != nil {
		return nil, withoutPosition(found, err)
	}
	for _, w := range built.Warnings {
		f.WarnOnce(w)
	}
	if err := built.App.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", found.Name, err)
	}
	return built, nil
}

// configDefaults returns the arguments of a component that the configuration files set, by
// parameter.
func configDefaults(
	f *program.Factory, found *component.Component, in component.Inputs,
) map[string]component.Default {
	conf, err := f.Config()
	if err != nil {
		return nil // loading it has failed before
	}
	rules, _ := f.SecretRules()
	defaults := map[string]component.Default{}
	set := func(name string, v config.Value) {
		defaults[name] = component.Default{Text: v.Text, Origin: fmt.Sprintf("%s:%d", f.ShortPath(v.File), v.Line)}
		if !f.ShowSecrets {
			defaults[name] = component.Default{Text: rules.Value(name, v.Text), Origin: defaults[name].Origin}
		}
	}
	image, _ := conf.Image()
	for i := range found.Params {
		if p := &found.Params[i]; p.Name == "image" && p.Default == image.Text {
			set(p.Name, image)
		}
	}
	for _, v := range conf.Section("component:" + in.ConfigName) {
		if !v.IsNone() {
			set(history.ArgumentName(v.Key), v)
		}
	}
	return defaults
}

// withProgramHint adds to the error for an unknown component how to run it as a program, if
// it is one.
func withProgramHint(f *program.Factory, err error, o *Options) error {
	name := o.Component
	path := name
	if strings.Contains(name, "/") {
		path = f.Env.Absolute(name)
	}
	if _, notFound := exec.LookPath(path); notFound != nil {
		return err
	}
	return fmt.Errorf("%w (to run the program: `torchx %s %s`)", err, o.Command,
		CommandText(f, "utils.sh --", append([]string{name}, o.Inputs.Args...)))
}

// withoutPosition removes the position from an error of the built-in library, which does not help
// the user. Errors in the user's files keep theirs.
func withoutPosition(c *component.Component, err error) error {
	var at *interp.Error
	if !strings.HasPrefix(c.File, "@torchx//") || !errors.As(err, &at) ||
		errors.Is(err, program.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%s: %s", c.Name, strings.TrimPrefix(at.Msg, "fail: "))
}

// CfgLayers returns the layers of options, the strongest first.
func CfgLayers(f *program.Factory, o Options, conf *config.Config) ([]backend.Layer, error) {
	var given []backend.Layer
	if o.Cfg != "" {
		layer, err := backend.CfgLayer(o.Cfg)
		if err != nil {
			return nil, err
		}
		given = append(given, layer)
	}
	given = append(given, backend.JSONLayer(o.CfgJSON, o.CfgOrigin))
	r, err := f.Planner()
	if err != nil {
		return nil, err
	}
	if o.recordedCfg != nil {
		return append(given, o.recordedCfg), nil
	}
	configured, err := r.ConfigLayer(conf, o.Backend)
	if err != nil {
		return nil, err
	}
	b, err := r.Backends.Get(o.Backend)
	if err != nil {
		return nil, err
	}
	return append(given, f.EnvironmentLayer(b), configured), nil
}

// ReplicaEnviron returns the environment that replicas inherit: that of this process and
// TORCHX_CONTEXT_NAME, as TorchX sets it.
func ReplicaEnviron(f *program.Factory) []string {
	return append(slices.Clone(f.Env.Vars), "TORCHX_CONTEXT_NAME=cli_run")
}
