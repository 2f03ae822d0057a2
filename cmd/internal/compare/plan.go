package compare

import (
	"context"
	"encoding/json"
	"fmt"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// planSide plans a side with the options of both.
func planSide(ctx context.Context, f *program.Factory, s *side, o planning.Options) error {
	o.Backend = s.backend
	var planned *runner.Planned
	var err error
	if s.handle != "" {
		planned, err = planPast(ctx, f, s, o)
	} else {
		planned, err = planComponent(ctx, f, s, o)
	}
	if err != nil {
		return err
	}
	if o.Cfg != "" {
		for _, w := range planned.Warnings {
			f.Warn("%s", w)
		}
	}
	s.plan = planned
	s.Backend, s.Component, s.Args = planned.Backend, ui.NullString(planned.Component), append([]string{}, planned.Args...)
	data, err := json.Marshal(planned)
	if err != nil {
		return fmt.Errorf("encode the plan of %s: %w", s.Label, err)
	}
	if err := json.Unmarshal(data, &s.ordered); err != nil {
		return err
	}
	if s.provenance != nil {
		if s.ordered[provenancePart], err = json.Marshal(s.provenance); err != nil {
			return err
		}
	}
	if data, err = json.Marshal(s.ordered); err != nil {
		return err
	}
	return json.Unmarshal(data, &s.parts)
}

func planComponent(
	ctx context.Context, f *program.Factory, s *side, o planning.Options,
) (*runner.Planned, error) {
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	if err := o.DefaultBackend(f, conf); err != nil {
		return nil, err
	}
	o.Component, o.Inputs.Args, o.Inputs.Recorded = string(s.Component), s.Args, s.base
	planned, err := planning.PlanComponent(ctx, f, o, conf)
	if err != nil {
		return nil, err
	}
	s.Label = planning.CommandText(f, planned.Component, planned.Args)
	return planned, nil
}

// planPast plans a past app as it was recorded, or as its component returns it now.
func planPast(
	ctx context.Context, f *program.Factory, s *side, o planning.Options,
) (*runner.Planned, error) {
	past, err := planning.PastApp(ctx, f, s.handle)
	if err != nil {
		return nil, err
	}
	if !s.now {
		s.provenance = program.ProvenanceOf(&past.Source, past.Checkout)
	}
	if s.now && !past.Evaluated() {
		return nil, fmt.Errorf("%s was submitted from a file: it has no component to compare with", past.Ref.Handle())
	}
	if f, o, err = planning.RerunOptions(f, o, past); err != nil {
		return nil, err
	}
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	if !s.now {
		s.Label = past.Ref.Handle()
		return planning.Plan(ctx, f, o, conf, planning.FromRecord(past, &o))
	}
	o.Component, o.Inputs.Recorded, o.Inputs.Args = past.Component, past.Args, append(s.base, s.Args...)
	built, err := planning.Evaluate(ctx, f, &o, conf)
	if err != nil {
		return nil, err
	}
	app, err := planning.FromComponent(built)
	if err != nil {
		return nil, err
	}
	s.Label = planning.CommandText(f, built.Component, built.Args) + " (now)"
	return planning.Plan(ctx, f, o, conf, app)
}
