package sweep

import (
	"context"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/sweep"
)

// Rerun submits a sweep again as a new one, with the trials that it has, and shows it unless
// how has Detach.
func Rerun(
	ctx context.Context, f *program.Factory, o planning.Options, past *runner.Recorded, how follow.Options,
) error {
	conf, err := f.Config()
	if err != nil {
		return err
	}
	r, err := f.Planner()
	if err != nil {
		return err
	}
	definition, trials, err := r.SweepOf(ctx, past.Ref)
	if err != nil {
		return err
	}
	plan := &sweep.Plan{Definition: *definition}
	for t, err := range trials {
		if err != nil {
			return err
		}
		plan.Trials = append(plan.Trials, *t)
	}
	p, err := planning.Prepare(ctx, f, o, conf)
	if err != nil {
		return err
	}
	q := p.Common
	q.Cfg, q.Env, q.App, q.Sweep, q.Strict = nil, nil, plan.App(past.App.Name), plan, false
	q.Workspace, q.WorkspaceWhy, q.Source = "", "", past.Source
	planning.Inherit(&q, past)
	planned, err := p.Plan(ctx, q)
	if err != nil {
		return err
	}
	if err := planning.ApplyOnEnd(ctx, f, o.Command, o.Ends, planned, true); err != nil {
		return err
	}
	f.Say("rerun of %s: %s", past.Ref.Handle(), ui.Counted(len(plan.Trials), "trial"))
	return submit(ctx, f, planned, how)
}
