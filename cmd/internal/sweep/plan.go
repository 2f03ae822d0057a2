package sweep

import (
	"context"

	"torchx/cmd/internal/planning"
	"torchx/runtime/runner"
	"torchx/runtime/sweep"
)

// trials returns all trials.
func (p *preparation) trials(ctx context.Context) ([]sweep.Trial, error) {
	all := make([]sweep.Trial, 0, p.space.Len())
	err := p.each(ctx, func(t *sweep.Trial, _ *runner.Planned) error {
		all = append(all, *t)
		return nil
	})
	return all, err
}

// plan returns the plan of the sweep.
func (p *preparation) plan(ctx context.Context) (*runner.Planned, error) {
	trials, err := p.trials(ctx)
	if err != nil {
		return nil, err
	}
	name, err := p.planner.SweepBackend()
	if err != nil {
		return nil, err
	}
	plan := &sweep.Plan{Definition: p.sweep, Trials: trials}
	q := p.planner.Common
	q.Backend, q.Cfg, q.Env, q.App, q.Sweep = name, nil, nil, p.app(plan), plan
	q.Workspace, q.WorkspaceWhy, q.Strict = "", "", false
	q.Component, q.Args = p.component.Name, p.options.Inputs.Args
	q.Modules, q.Getenv = p.sweep.Source.Modules, p.sweep.Source.Getenv
	if q.Request, err = planning.RecordSweep(q.Request, p.options.values); err != nil {
		return nil, err
	}
	planned, err := p.planner.Plan(ctx, q)
	if err != nil {
		return nil, err
	}
	return planned, planning.ApplyOnEnd(ctx, p.Factory, "sweep", p.options.Ends, planned, true)
}
