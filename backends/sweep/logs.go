package sweep

import (
	"context"
	"fmt"
	"io"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logview"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// Logs opens the log of a trial: that of its app, whose replicas are merged.
func (b *Backend) Logs(
	_ context.Context, id string, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	l, err := b.load(id)
	if err != nil {
		return nil, err
	}
	if r.Role != sweep.Role || r.ID < 0 || r.ID >= len(l.machine.Trials()) {
		return nil, fmt.Errorf("trial %s/%d of sweep %s: %w", r.Role, r.ID, id, backend.ErrNotFound)
	}
	return &trialLog{b: b, id: id, trial: r.ID, o: o}, nil
}

// trialLog is the log of a trial. It is opened when it is read first: a sweep has more trials
// than a process may have open files.
type trialLog struct {
	b       *Backend
	id      string
	trial   int
	o       backend.LogOptions
	readers []backend.LogReader
	merger  *logview.Merger
	ended   bool
}

// Next returns the next block. With Follow it waits until the trial has an app.
func (t *trialLog) Next(ctx context.Context) (backend.Block, error) {
	if t.merger == nil && !t.ended {
		if err := t.open(ctx); err != nil {
			return backend.Block{}, err
		}
	}
	if t.merger == nil {
		return backend.Block{}, io.EOF
	}
	_, block, err := t.merger.Next(ctx)
	if err == io.EOF { //nolint:errorlint // as LogReader returns it
		t.ended = true
		_ = t.Close() // opened only for reading; frees its files
	}
	return block, err
}

// open opens the logs of the trial's app; none if the trial has no app.
func (t *trialLog) open(ctx context.Context) error {
	target, id, err := t.app(ctx)
	if err != nil || id == "" {
		t.ended = err == nil
		return err
	}
	s, err := target.Describe(ctx, id)
	if err != nil {
		return fmt.Errorf("log of trial %d: %w", t.trial, err)
	}
	for _, role := range s.Roles {
		for _, one := range role.Replicas {
			r, err := target.Logs(ctx, id, spec.Replica{Role: role.Role, ID: one.ID}, t.o)
			if err != nil {
				return fmt.Errorf("log of trial %d: %w", t.trial, err)
			}
			t.readers = append(t.readers, r)
		}
	}
	t.merger = logview.NewMerger(t.readers, t.o.Follow)
	return nil
}

// app returns the app of the trial, "" if there is none, and will be none.
func (t *trialLog) app(ctx context.Context) (backend.Backend, string, error) {
	for {
		l, err := t.b.load(t.id)
		if err != nil {
			return nil, "", err
		}
		one := &l.machine.Trials()[t.trial]
		if started := !one.Began.IsZero(); started || !t.o.Follow || l.machine.Done() {
			if one.App == "" || !started {
				return nil, "", nil
			}
			target, err := t.b.open(l.def.Backend)
			return target, one.App, err
		}
		select {
		case <-ctx.Done():
			return nil, "", ctx.Err()
		case <-time.After(pollEvery / 4):
		}
	}
}

// Close closes the logs of the app.
func (t *trialLog) Close() error {
	if t.merger != nil {
		t.merger.Stop()
		t.merger = nil
	}
	for _, r := range t.readers {
		_ = r.Close() // opened only for reading
	}
	t.readers = nil
	return nil
}
