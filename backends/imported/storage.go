package imported

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/portable"
	"torchx/runtime/spec"
)

// ImportOf returns where an app came from.
func (b *Backend) ImportOf(id string) (*backend.Import, error) {
	r, err := b.load(id)
	if err != nil {
		return nil, err
	}
	return &r.Origin, nil
}

// FolderOf returns the folder of an app.
func (b *Backend) FolderOf(id string) string { return portable.Folder(b.home, id) }

// CollectMetrics does nothing: no more metrics come.
func (b *Backend) CollectMetrics(context.Context, string, *spec.App, bool) error { return nil }

// UsageDir returns the folder with the samples.
func (b *Backend) UsageDir(_ context.Context, id string) (dir, missing string) {
	return b.FolderOf(id), ""
}

// OutputOf returns the folder of the outputs.
func (b *Backend) OutputOf(_ context.Context, id string) (*backend.Output, error) {
	out := &backend.Output{Place: filepath.Join(b.FolderOf(id), portable.OutputFolder), Here: true}
	if _, err := os.Lstat(out.Place); err != nil {
		return nil, backend.Errorf(backend.ErrNotFound, "app %s was exported without its outputs (torchx export --outputs)", id)
	}
	return out, nil
}

// AppRecords returns all apps, to restore a lost history.
func (b *Backend) AppRecords(_ context.Context, all bool) ([]backend.AppRecord, error) {
	if !all {
		return nil, nil
	}
	runs, err := portable.All(b.home)
	if err != nil {
		return nil, err
	}
	var records []backend.AppRecord
	for _, r := range runs {
		record, err := recordOf(r)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

func recordOf(r *portable.Run) (backend.AppRecord, error) {
	a := backend.AppRecord{ID: r.ID(), App: &spec.App{}, SubmittedAt: *r.SubmittedAt, Status: r.Status}
	err := json.Unmarshal(r.App, a.App)
	if err == nil && len(r.Cfg) > 0 {
		err = json.Unmarshal(r.Cfg, &a.Cfg)
	}
	if err == nil {
		a.Record, err = json.Marshal(struct {
			history.Source
			history.Labels
		}{r.Source, r.Labels})
	}
	if err != nil {
		return a, fmt.Errorf("read app %s: %w", a.ID, err)
	}
	return a, nil
}

// MarkRecorded does nothing: an app is recorded when it is imported.
func (b *Backend) MarkRecorded(context.Context, string) error { return nil }
