package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/config"
	"torchx/runtime/humanize"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
	"torchx/starlark/component"
)

// preparation is a sweep whose trials are not all known to be valid yet.
type preparation struct {
	*program.Factory
	options   options
	component *component.Component
	space     *sweep.Space
	planner   *planning.Planner
	sweep     sweep.Definition
	first     int // number of the first trial
}

// prepare reads what the trials share, and finds the component.
func prepare(ctx context.Context, f *program.Factory, o options) (*preparation, error) {
	rules, err := o.rules.rules()
	if err != nil {
		return nil, err
	}
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	if err := o.ApplyConfig(conf); err != nil {
		return nil, err
	}
	if err := o.DefaultBackend(f, conf); err != nil {
		return nil, err
	}
	if err := planning.Check(f, o.Options); err != nil {
		return nil, err
	}
	p := &preparation{Factory: f, options: o}
	if p.component, err = planning.Find(ctx, f, &p.options.Options, conf); err != nil {
		return nil, err
	}
	if err := p.help(ctx); err != nil {
		return nil, err
	}
	if p.space, err = o.values.space(ctx, f); err != nil {
		if misplaced := misplacedFlag(o.Inputs.Args); misplaced != nil {
			err = misplaced
		}
		return nil, err
	}
	if err := resolveNames(p.component, p.space); err != nil {
		return nil, err
	}
	rules.LogScaled = p.space.LogScaled()
	return p, p.define(ctx, conf, rules)
}

// help prints the component's help if its arguments ask for it.
func (p *preparation) help(ctx context.Context) error {
	if args := p.options.Inputs.Args; !slices.Contains(args, "--help") &&
		!slices.Contains(args, "-h") {
		return nil
	}
	_, err := planning.Call(ctx, p.Factory, p.component, p.options.Inputs)
	if errors.Is(err, component.ErrHelp) {
		return err
	}
	return nil // trials report other errors
}

// define completes what all trials share.
func (p *preparation) define(
	ctx context.Context, conf *config.Config, rules sweep.Rules,
) (err error) {
	o := p.options.Options
	o.Submit = !p.options.dryrun
	if p.planner, err = planning.Prepare(ctx, p.Factory, o, conf); err != nil {
		return err
	}
	q := p.planner.Common
	name, cfg, warnings, err := p.planner.TrialCfg(q.Backend, q.Cfg, o.Submit)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		p.WarnOnce(w)
	}
	p.sweep = sweep.Definition{
		Backend: name, Cfg: cfg, Env: q.Env, DefaultImage: q.DefaultImage, Workspace: q.Workspace, WorkspaceWhy: q.WorkspaceWhy,
		Source: q.Source, Rules: rules,
	}
	p.sweep.Source.Component = p.component.Name
	for _, t := range q.Trackers {
		p.sweep.Trackers = append(p.sweep.Trackers, sweep.Tracker(t))
	}
	return nil
}

// each evaluates and plans all trials in order and calls use with each. The error of a trial
// names its parameters.
func (p *preparation) each(
	ctx context.Context, use func(*sweep.Trial, *runner.Planned) error,
) error {
	stop := p.SayIfSlow("planning %d trials", p.space.Len())
	defer stop()
	notes := newNotes(p.Console)
	defer notes.end()
	for i := range p.space.Len() {
		t := p.space.Trial(i)
		t.Number += p.first
		trial, planned, err := p.trial(ctx, t)
		if err != nil {
			return ofTrial(&t, err)
		}
		notes.add(planned)
		if err := use(trial, planned); err != nil {
			return err
		}
	}
	return nil
}

// trial evaluates and plans one trial.
func (p *preparation) trial(
	ctx context.Context, t sweep.Place,
) (*sweep.Trial, *runner.Planned, error) {
	for _, param := range t.Params {
		if !utf8.ValidString(param.Name + param.Value) {
			text := fmt.Sprintf("argument %s is not valid UTF-8: pass such bytes in a file",
				humanize.Quote(param.Name+"="+param.Value))
			return nil, nil, &component.UsageError{Component: p.component.Ref, Text: text}
		}
	}
	in := p.options.Inputs
	in.Args = slices.Concat(words(t.Params), in.Args)
	built, err := planning.Call(ctx, p.Factory, p.component, in)
	if err != nil {
		return nil, nil, err
	}
	app, err := planning.FromComponent(built)
	if err != nil {
		return nil, nil, err
	}
	q, err := p.planner.Request(app)
	if err != nil {
		return nil, nil, err
	}
	for i := range q.App.Roles {
		if role := &q.App.Roles[i]; role.PreProc != nil {
			return nil, nil, fmt.Errorf("role %s has a function pre_proc, which cannot be stored until the trial starts (use `torchx run`)", role.Name)
		}
	}
	if p.sweep.Source.Modules == nil {
		p.sweep.Source.Modules, p.sweep.Source.Getenv = q.Modules, q.Getenv
	}
	t.Args = built.Args
	trial := &sweep.Trial{Place: t, App: q.App}
	if trial.Request, err = planning.RecordVariables(p.sweep.Source.Request, trial.Variables()); err != nil {
		return nil, nil, err
	}
	planned, err := p.planner.PlanTrial(ctx, &p.sweep, trial, runner.TrialOptions{
		Environ: q.Environ, Strict: q.Strict, Progress: q.Progress,
	})
	return trial, planned, err
}

// words returns parameters as arguments.
func words(params []sweep.Param) []string {
	list := make([]string, len(params))
	for i, param := range params {
		list[i] = "--" + param.Name + "=" + param.Value
	}
	return list
}

// ofTrial adds the trial to its error.
func ofTrial(t *sweep.Place, err error) error {
	var texts []string
	for _, param := range t.Params {
		texts = append(texts, humanize.Text(param.Name+"="+param.Value))
	}
	which := fmt.Sprintf("trial %d (%s)", t.Number, strings.Join(texts, " "))
	if len(texts) == 0 {
		which = fmt.Sprintf("trial %d", t.Number)
	}
	if usage, ok := errors.AsType[*component.UsageError](err); ok {
		return &component.UsageError{Component: usage.Component, Text: which + ": " + usage.Text}
	}
	return fmt.Errorf("%s: %w", which, err)
}

// app returns the sweep itself as an app, which is named after its trials.
func (p *preparation) app(plan *sweep.Plan) *spec.App { return plan.App(plan.Trials[0].App.Name) }

func (p *preparation) paramText(param sweep.Param) string { return ui.ParamText(p.Console, param) }
