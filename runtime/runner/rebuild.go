package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
)

// memory is what the history has of an app beside its plan; a backend keeps it.
type memory struct {
	Component string          `json:"component,omitempty"`
	Args      []string        `json:"args,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	Modules   json.RawMessage `json:"modules,omitempty"`
	Getenv    json.RawMessage `json:"getenv,omitempty"`
	Asked     json.RawMessage `json:"asked,omitempty"`
	Origin    string          `json:"origin,omitempty"`
}

func memoryOf(p *Planned) (json.RawMessage, error) {
	data, err := json.Marshal(memory{p.Component, p.Args, p.Cwd, p.Modules, p.Getenv, p.Asked, p.Origin})
	if err != nil {
		return nil, fmt.Errorf("encode the record of app %s: %w", p.Ref().Handle(), err)
	}
	return data, nil
}

// Settle is for every command that opens the history, before it does its work: it
// ends what dead supervisors of this machine left running, finishes removals that
// were cut short, and takes apps into the history that it lost or could not take. What fails is a warning.
func (r *Runner) Settle(ctx context.Context) {
	for _, name := range r.Backends.Names() {
		b, err := r.Backends.Get(name)
		if err != nil {
			continue // whoever needs that backend will be told
		}
		if s, ok := b.(backend.Sweeper); ok {
			if err := s.Sweep(ctx); err != nil {
				r.warn("%v", err)
			}
		}
	}
	if r.History == nil || r.History.ReadOnly() {
		return
	}
	r.finishRemovals(ctx)
	if err := r.refill(ctx); err != nil {
		r.warn("the history is not complete: %v", err)
	}
}

// refill adds what backends remember and the history does not have.
func (r *Runner) refill(ctx context.Context) error {
	complete, err := r.History.Complete(ctx)
	if err != nil {
		return err
	}
	if !complete {
		failpoint.Hit(failpoint.Filling)
	}
	added := 0
	for _, name := range r.Backends.Names() {
		b, err := r.Backends.Get(name)
		rememberer, ok := b.(backend.HistoryRestorer)
		if err != nil || !ok {
			continue
		}
		n, err := r.recall(ctx, name, rememberer, !complete)
		if err != nil {
			return err
		}
		added += n
	}
	if !complete {
		if err := r.History.SetComplete(ctx); err != nil {
			return err
		}
	}
	switch added {
	case 0:
	case 1:
		r.warn("1 app that the history did not have was taken from its folder")
	default:
		r.warn("%d apps that the history did not have were taken from their folders", added)
	}
	return nil
}

// recall takes over the memories of one backend, oldest first.
func (r *Runner) recall(ctx context.Context, backendName string, b backend.HistoryRestorer, all bool) (added int, err error) {
	memories, err := b.AppRecords(ctx, all)
	if err != nil {
		return 0, err
	}
	slices.SortStableFunc(memories, func(a, b backend.AppRecord) int { return a.SubmittedAt.Compare(b.SubmittedAt) })
	for i := range memories {
		m := &memories[i]
		err := r.remember(ctx, backendName, m)
		switch {
		case err == nil:
			added++
		case !errors.Is(err, history.ErrExists):
			return added, err
		}
		if err := b.MarkRecorded(ctx, m.ID); err != nil {
			return added, err
		}
	}
	return added, nil
}

func (r *Runner) remember(ctx context.Context, backendName string, m *backend.AppRecord) error {
	var kept memory
	if len(m.Record) > 0 {
		if err := json.Unmarshal(m.Record, &kept); err != nil {
			return fmt.Errorf("read the record of app %s: %w", m.ID, err)
		}
	}
	p := &Planned{
		Backend: backendName, Plan: &backend.Plan{ID: m.ID, App: m.App, Cfg: m.Cfg},
		Component: kept.Component, Args: kept.Args, Cwd: kept.Cwd, Modules: kept.Modules, Getenv: kept.Getenv,
		Asked: kept.Asked, Origin: kept.Origin,
	}
	row, err := r.newRow(p)
	if err != nil {
		return err
	}
	row.SubmittedAt, row.Submitter = m.SubmittedAt, ""
	if err := r.History.Insert(ctx, row); err != nil {
		return err
	}
	return r.History.SetStatus(ctx, backendName, m.ID, m.Status)
}
