// Package imported has apps that were exported from other homes (package portable). They are records:
// their status, logs, metrics and outputs are shown, and nothing is done to them but to delete them.
package imported

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/backends/driver"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/logstore"
	"torchx/runtime/portable"
	"torchx/runtime/spec"
)

// Backend has the imported apps of a home.
type Backend struct {
	home string
	hub  *logstore.Hub
}

// Driver registers the backend.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    history.Imported,
		Open:    func(e driver.Env) (backend.Backend, error) { return &Backend{e.Home, logstore.NewHub()}, nil },
		Pending: []string{filepath.Base(portable.Root(""))},
	}
}

var _ backend.Backend = (*Backend)(nil)

// Capabilities returns what can be shown of imported apps.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Reports: backend.Reports{Usage: b, Imports: b},
		Storage: backend.Storage{Folder: b, Output: b, History: b},
	}
}

// Name is "imported".
func (b *Backend) Name() string { return history.Imported }

// Options returns none.
func (b *Backend) Options() []backend.Option { return nil }

var errRuns = backend.Errorf(backend.ErrUnsupported, "backend %s shows apps of other machines and runs none: choose another backend with -b", history.Imported)

// Plan fails: nothing runs here.
func (b *Backend) Plan(context.Context, backend.PlanInput) (*backend.Plan, error) {
	return nil, errRuns
}

// Load fails as Plan does.
func (b *Backend) Load(context.Context, backend.PlanInput, json.RawMessage) (*backend.Plan, error) {
	return nil, errRuns
}

// Submit fails as Plan does.
func (b *Backend) Submit(context.Context, *backend.Plan) error { return errRuns }

func (b *Backend) load(id string) (*portable.Run, error) {
	r, err := portable.Load(portable.Folder(b.home, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	return r, err
}

// Describe returns the status that the app had when it was exported.
func (b *Backend) Describe(_ context.Context, id string) (*spec.Status, error) {
	r, err := b.load(id)
	if err != nil {
		return nil, err
	}
	s := r.Status
	if s.UIURL = nil; !s.State.Terminal() {
		s.Msg = "as of its export at " + r.Origin.ExportedAt.Local().Format(time.DateTime)
	}
	return s, nil
}

// Wait returns the status of an app that had ended.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	s, err := b.Describe(ctx, id)
	if err == nil && !s.State.Terminal() {
		err = backend.Errorf(backend.ErrUnsupported, "it was %s when it was exported, and nothing more will be known of it here", s.State)
	}
	return s, err
}

// List returns the imported apps.
func (b *Backend) List(context.Context) ([]backend.View, error) {
	all, err := portable.All(b.home)
	if err != nil {
		return nil, err
	}
	views := make([]backend.View, len(all))
	for i, r := range all {
		views[i] = backend.View{App: r.Row()}
		views[i].Update(r.Status)
	}
	return views, nil
}

// Cancel fails for an app that had not ended: it runs elsewhere, if at all.
func (b *Backend) Cancel(_ context.Context, id string, _ backend.CancelOptions) error {
	r, err := b.load(id)
	if err != nil || r.Status.State.Terminal() {
		return err
	}
	return backend.Errorf(backend.ErrUnsupported, "it is a copy of %s on %s: cancel that there", r.Origin.Handle, r.Origin.Host)
}

// Delete removes the folder of an app.
func (b *Backend) Delete(_ context.Context, id string, _ backend.DeleteOptions) error {
	dir := portable.Folder(b.home, id)
	if _, err := os.Lstat(dir); err != nil {
		return fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("delete the files of app %s: %w", id, err)
	}
	return nil
}

// Logs opens the log of a replica.
func (b *Backend) Logs(
	_ context.Context, id string, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	run, err := b.load(id)
	if err != nil {
		return nil, err
	}
	attempts, ok := run.Attempts(r)
	if !ok {
		return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id, backend.ErrNotFound)
	}
	dir := portable.Folder(b.home, id)
	return logstore.Open(logstore.Source{
		Dir:   func(attempt int) string { return logstore.AttemptDir(dir, r, attempt) },
		State: func() (int, bool, error) { return attempts, true, nil },
		Hub:   b.hub,
	}, o)
}

// Close releases nothing but the readers of logs.
func (b *Backend) Close() error { return b.hub.Close() }
