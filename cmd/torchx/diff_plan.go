package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"torchx/runtime/config"
	"torchx/runtime/runner"
)

// planSide plans a side, with the options that both have.
func (t *tool) planSide(ctx context.Context, s *diffSide, o runOptions) error {
	o.backend = s.backend
	var planned *runner.Planned
	var err error
	if s.handle != "" {
		planned, err = t.planPast(ctx, s, o)
	} else {
		planned, err = t.planComponent(ctx, s, o)
	}
	if err != nil {
		return err
	}
	if o.cfg != "" {
		for _, w := range planned.Warnings {
			t.warn("%s", w)
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

func (t *tool) planComponent(ctx context.Context, s *diffSide, o runOptions) (*runner.Planned, error) {
	conf, err := t.config()
	if err != nil {
		return nil, err
	}
	if err := o.useBackend(t, conf); err != nil {
		return nil, err
	}
	o.component, o.inputs.Args, o.inputs.Recorded = s.Component, s.Args, s.base
	planned, err := t.plan(ctx, o, conf)
	if err != nil {
		return nil, err
	}
	s.Label = commandText(planned.Component, planned.Args)
	return planned, nil
}

// useBackend takes the backend that `run` would take.
func (o *runOptions) useBackend(t *tool, conf *config.Config) error {
	defaults := conf.Cli("run")
	for _, key := range []string{"scheduler", "backend"} {
		if o.backend == "" {
			o.backend = defaults[key]
		}
	}
	return t.chooseBackend(o)
}

// planPast plans a past app as it was recorded, or what its component gives now.
func (t *tool) planPast(ctx context.Context, s *diffSide, o runOptions) (*runner.Planned, error) {
	env, conf := t.env, t.conf
	defer func() { t.env, t.conf = env, conf }() // the app has a folder of its own
	past, err := t.recorded(ctx, s.handle)
	if err != nil {
		return nil, err
	}
	if s.now && !past.Evaluated() {
		return nil, fmt.Errorf("%s was submitted from a file, so there is no component to compare it with", past.Ref.Handle())
	}
	if err := t.moveTo(past); err != nil {
		return nil, err
	}
	was, err := readAsked(past.Request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", past.Ref.Handle(), err)
	}
	o.take(was)
	if err := t.chooseWhere(&o, past, was.TTY); err != nil {
		return nil, err
	}
	q, err := t.pastRequest(ctx, s, o, past)
	if err != nil {
		return nil, err
	}
	r, err := t.planner()
	if err != nil {
		return nil, err
	}
	return r.Plan(ctx, *q)
}

func (t *tool) pastRequest(ctx context.Context, s *diffSide, o runOptions, past *runner.Recorded) (*runner.PlanRequest, error) {
	conf, err := t.config()
	if err != nil {
		return nil, err
	}
	if !s.now {
		s.Label = past.Ref.Handle()
		return t.recordedRequest(o, conf, past)
	}
	o.component, o.inputs.Recorded, o.inputs.Args = past.Component, past.Args, append(s.base, s.Args...)
	built, name, err := t.build(ctx, &o, conf)
	if err != nil {
		return nil, err
	}
	q, err := t.planRequest(o, conf, built)
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
		words = append(words, quoteWord(arg))
	}
	return strings.Join(words, " ")
}
