// Package portable defines how apps leave their home: as an archive, by tar and zstd, that another
// home unpacks.
//
//	Run      an app with its status and where it came from: run.json
//	Writer   writes an archive of runs
//	Unpack   extracts an archive, which may be malicious
//	Folder   the folder of an imported app, laid out as in the archive
//
// An archive begins with torchx-export.json, which has the format. Each run has a folder runs/N:
//
//	run.json          a Run
//	changes.diff      the uncommitted changes that it was submitted with
//	replicas/         logs, as package logstore has them
//	metrics/, usage/  as packages metrics and sample have them
//	output/           what the replicas wrote, if that was asked for
package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Format is the format of archives that this version writes, and the newest that it reads.
const Format = 1

// Names of files and folders of a run.
const (
	RecordFile   = "run.json"
	DiffFile     = "changes.diff"
	OutputFolder = "output"
)

// MaxRecord bounds RecordFile and DiffFile, in bytes.
const MaxRecord = 64 << 20

// Run is an app as it was when it was exported.
type Run struct {
	Origin      backend.Import    `json:"origin"`
	Name        string            `json:"name"`
	App         json.RawMessage   `json:"app"`
	Cfg         json.RawMessage   `json:"cfg"`
	Source      history.Source    `json:"source"`
	Labels      history.Labels    `json:"labels"`
	Checkout    *history.Checkout `json:"checkout"`
	SubmittedAt *time.Time        `json:"submitted_at"`
	Status      *spec.Status      `json:"status"`
	Events      []history.Event   `json:"events"` // that its backend recorded
}

// ID returns the ID of the app, the same in all homes.
func (r *Run) ID() string {
	h, err := spec.ParseHandle(r.Origin.Handle)
	if err != nil {
		return ""
	}
	return h.AppID
}

// Same reports whether both are records of one app, whenever they were exported.
func (r *Run) Same(o *Run) bool {
	return r.Origin.Handle == o.Origin.Handle && r.SubmittedAt.Equal(*o.SubmittedAt)
}

// Row returns the record for the history of a home that imports the app.
func (r *Run) Row() history.App {
	row := history.App{
		AppKey: history.AppKey{Backend: history.Imported, ID: r.ID()}, Name: r.Name, Spec: r.App,
		Cfg: r.Cfg, Source: r.Source, Labels: r.Labels, SubmittedAt: r.SubmittedAt, Checkout: r.Checkout,
	}
	row.State, row.Msg = spec.Submitted, "imported from "+r.Origin.Handle+" on "+r.Origin.Host
	return row
}

// check returns an error for a record that does not describe an app.
func (r *Run) check() error {
	switch {
	case !spec.ValidAppID(r.ID()):
		return fmt.Errorf("%q is not the handle of an app", r.Origin.Handle)
	case r.SubmittedAt == nil || r.Status == nil || len(r.App) == 0:
		return errors.New("it has no app, no status or no time of submission")
	}
	return nil
}

// Attempts returns how many attempts of a replica started; ok is false if the app lacks it.
func (r *Run) Attempts(id spec.Replica) (n int, ok bool) {
	s := r.Status.Replica(id)
	switch {
	case s == nil:
		return 0, false
	case s.StartedAt == nil:
		return s.Attempt, true
	}
	return s.Attempt + 1, true
}

// folder is the folder of a home with imported apps.
const folder = "imported"

// Root returns the folder of a home with one folder for each imported app.
func Root(home string) string { return filepath.Join(home, folder) }

// Folder returns the folder of an imported app.
func Folder(home, id string) string { return filepath.Join(home, folder, safefile.Escape(id)) }

// Load reads the record of an imported app. Errors: fs.ErrNotExist.
func Load(dir string) (*Run, error) {
	data, err := safefile.ReadFile(filepath.Join(dir, RecordFile), MaxRecord)
	if err != nil {
		return nil, err
	}
	r := &Run{}
	if err = json.Unmarshal(data, r); err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, RecordFile), err)
	}
	return r, nil
}

// Save writes the record of an app.
func (r *Run) Save(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode app %s: %w", r.ID(), err)
	}
	return safefile.WriteFile(filepath.Join(dir, RecordFile), data)
}

// All returns the imported apps of a home. It skips those that it cannot read.
func All(home string) ([]*Run, error) {
	entries, err := os.ReadDir(Root(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list imported apps: %w", err)
	}
	var all []*Run
	for _, e := range entries {
		if r, err := Load(filepath.Join(Root(home), e.Name())); err == nil && e.Name() == safefile.Escape(r.ID()) {
			all = append(all, r)
		}
	}
	return all, nil
}
