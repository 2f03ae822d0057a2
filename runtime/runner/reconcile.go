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

// Provenance describes how an app was created. Its JSON form is the record that backends
// keep beside a plan, to restore a lost history.
type Provenance struct {
	history.Source
	history.Labels
	DefaultTags map[string]string `json:"-"`                // of the project: inherited tags override them
	Origin      string            `json:"origin,omitempty"` // message of the history's first event, such as "rerun of …"
}

// Reconcile brings the history and this machine into agreement; every command that opens
// the history calls it first. It ends what dead supervisors left running, completes
// interrupted removals, and restores apps that the history lost or could not store.
// Failures are warnings.
func (r *Runner) Reconcile(ctx context.Context) {
	for _, name := range r.Backends.Names() {
		if r.Backends.Idle(name, false) {
			continue
		}
		can, err := r.Backends.Capabilities(name)
		if err != nil || can.Recovery == nil {
			continue // commands that need this backend report the error
		}
		if err := can.Recovery.Recover(ctx); err != nil {
			r.warn("%v", err)
		}
	}
	if r.History == nil || r.History.ReadOnly() {
		return
	}
	r.completeRemovals(ctx)
	if err := r.restore(ctx); err != nil {
		r.warn("the history is incomplete: %v", err)
	}
}

// restore adds apps that backends have records of and the history lacks.
func (r *Runner) restore(ctx context.Context) error {
	complete, err := r.History.Complete(ctx)
	if err != nil {
		return err
	}
	if !complete {
		failpoint.Hit(failpoint.Filling)
	}
	lost, err := r.lost(ctx, !complete)
	if err != nil {
		return err
	}
	added := 0
	for _, l := range lost {
		err := r.restoreApp(ctx, l.backend, &l.record)
		if err == nil {
			added++
		} else if !errors.Is(err, history.ErrExists) {
			return err
		}
		if err := l.restorer.MarkRecorded(ctx, l.record.ID); err != nil {
			return err
		}
	}
	if !complete {
		if err := r.History.SetComplete(ctx); err != nil {
			return err
		}
	}
	switch added {
	case 0:
	case 1:
		r.warn("1 app that was missing in the history was restored from its folder")
	default:
		r.warn("%d apps that were missing in the history were restored from their folders", added)
	}
	return nil
}

// lostApp is an app that the history may not have.
type lostApp struct {
	backend  string
	restorer backend.HistoryRestorer
	record   backend.AppRecord
}

// lost returns the records of all backends, oldest first: the app that is added last is the
// most recent one for `-`.
func (r *Runner) lost(ctx context.Context, all bool) (apps []lostApp, err error) {
	for _, name := range r.Backends.Names() {
		if r.Backends.Idle(name, all) {
			continue
		}
		can, err := r.Backends.Capabilities(name)
		if err != nil || can.History == nil {
			continue
		}
		records, err := can.History.AppRecords(ctx, all)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			apps = append(apps, lostApp{name, can.History, record})
		}
	}
	slices.SortStableFunc(apps, func(a, b lostApp) int { return a.record.SubmittedAt.Compare(b.record.SubmittedAt) })
	return apps, nil
}

func (r *Runner) restoreApp(ctx context.Context, backendName string, a *backend.AppRecord) error {
	p := &Planned{Backend: backendName, Plan: &backend.Plan{ID: a.ID, App: a.App, Cfg: a.Cfg}}
	if len(a.Record) > 0 {
		if err := json.Unmarshal(a.Record, &p.Provenance); err != nil {
			return fmt.Errorf("read the record of app %s: %w", a.ID, err)
		}
	}
	row, err := r.newRow(p)
	if err != nil {
		return err
	}
	row.SubmittedAt, row.Submitter = &a.SubmittedAt, ""
	if err := r.History.Insert(ctx, row); err != nil {
		return err
	}
	return r.History.SetStatus(ctx, backendName, a.ID, a.Status)
}
