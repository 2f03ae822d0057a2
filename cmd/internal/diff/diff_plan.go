package diff

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/run"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// planSide plans a side, with the options that both have.
func planSide(ctx context.Context, t *program.Factory, s *diffSide, o run.RunOptions) error {
	o.Backend = s.backend
	var planned *runner.Planned
	var err error
	if s.handle != "" {
		planned, err = planPast(ctx, t, s, o)
	} else {
		planned, err = planComponent(ctx, t, s, o)
	}
	if err != nil {
		return err
	}
	if o.Cfg != "" {
		for _, w := range planned.Warnings {
			t.Warn("%s", w)
		}
	}
	s.Backend, s.Component, s.Args = planned.Backend, planned.Component, append([]string{}, planned.Args...)
	data, err := json.Marshal(planned)
	if err != nil {
		return fmt.Errorf("encode the plan of %s: %w", s.Label, err)
	}
	if err := json.Unmarshal(data, &s.ordered); err != nil {
		return err
	}
	return json.Unmarshal(data, &s.parts)
}

func planComponent(ctx context.Context, t *program.Factory, s *diffSide, o run.RunOptions) (*runner.Planned, error) {
	conf, err := t.Config()
	if err != nil {
		return nil, err
	}
	if err := o.UseBackend(t, conf); err != nil {
		return nil, err
	}
	o.Component, o.Inputs.Args, o.Inputs.Recorded = s.Component, s.Args, s.base
	planned, err := run.Plan(ctx, t, o, conf)
	if err != nil {
		return nil, err
	}
	s.Label = commandText(planned.Component, planned.Args)
	return planned, nil
}

// planPast plans a past app as it was recorded, or what its component gives now.
func planPast(ctx context.Context, t *program.Factory, s *diffSide, o run.RunOptions) (*runner.Planned, error) {
	past, err := run.Recorded(ctx, t, s.handle)
	if err != nil {
		return nil, err
	}
	if s.now && !past.Evaluated() {
		return nil, fmt.Errorf("%s was submitted from a file, so there is no component to compare it with", past.Ref.Handle())
	}
	if t, err = run.FolderOf(t, past); err != nil {
		return nil, err
	}
	was, err := run.ReadAsked(past.Request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", past.Ref.Handle(), err)
	}
	o.Take(was)
	if err := run.ChooseWhere(t, &o, past, was.TTY); err != nil {
		return nil, err
	}
	q, err := pastRequest(ctx, t, s, o, past)
	if err != nil {
		return nil, err
	}
	r, err := t.Planner()
	if err != nil {
		return nil, err
	}
	return r.Plan(ctx, *q)
}

func pastRequest(ctx context.Context, t *program.Factory, s *diffSide, o run.RunOptions, past *runner.Recorded) (*runner.PlanRequest, error) {
	conf, err := t.Config()
	if err != nil {
		return nil, err
	}
	if !s.now {
		s.Label = past.Ref.Handle()
		return run.RecordedRequest(t, o, conf, past)
	}
	o.Component, o.Inputs.Recorded, o.Inputs.Args = past.Component, past.Args, append(s.base, s.Args...)
	built, name, err := run.Build(ctx, t, &o, conf)
	if err != nil {
		return nil, err
	}
	q, err := run.PlanRequest(t, o, conf, built)
	if err != nil {
		return nil, err
	}
	q.Component = name
	s.Label = commandText(name, built.Args) + " (now)"
	return q, nil
}

// commandText writes a component and its arguments as they would be typed.
func commandText(name string, args []string) string {
	words := []string{name}
	for _, arg := range args {
		words = append(words, ui.QuoteWord(arg))
	}
	return strings.Join(words, " ")
}
