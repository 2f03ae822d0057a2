package supervised

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/safefile"
)

// unrecordedFolder is the folder of a home that has an empty file for each app that the
// history could not store at submit.
const unrecordedFolder = "unrecorded"

// Pending are the folders of driver.Driver.Pending for a backend of bundles.
func Pending() []string { return []string{agent.LiveFolder, agent.EndsFolder, unrecordedFolder} }

// Recover ends the remaining processes of dead agents.
func (a *Apps) Recover(context.Context) error { return agent.RecoverAll(a.Home, a.Exe) }

func (a *Apps) unrecordedPath(id string) string {
	return filepath.Join(a.Home, unrecordedFolder, safefile.Escape(id))
}

// noteUnrecorded is best effort: the app runs without it, too.
func (a *Apps) noteUnrecorded(id string) {
	path := a.unrecordedPath(id)
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = safefile.WriteFile(path, nil)
	}
}

// MarkRecorded removes an app from the unrecorded ones.
func (a *Apps) MarkRecorded(_ context.Context, id string) error {
	err := os.Remove(a.unrecordedPath(id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("app %s is now in the history, but is still marked as unrecorded: %w", id, err)
	}
	return nil
}

// AppRecords returns the records of unrecorded apps, or of all, from their bundles.
func (a *Apps) AppRecords(_ context.Context, all bool) ([]backend.AppRecord, error) {
	bundles, err := a.bundlesToRestore(all)
	if err != nil {
		return nil, err
	}
	var records []backend.AppRecord
	for _, bundle := range bundles {
		m, err := bundle.Manifest()
		if err != nil || m.Backend != a.Backend {
			continue
		}
		s, err := bundle.Recover(a.Exe)
		if err != nil {
			continue
		}
		records = append(records, backend.AppRecord{
			ID: m.ID, App: m.App, Cfg: m.Cfg, Record: m.Record, SubmittedAt: m.SubmittedAt, Status: s,
		})
	}
	return records, nil
}

func (a *Apps) bundlesToRestore(all bool) ([]agent.Bundle, error) {
	if all {
		return agent.List(a.Home)
	}
	entries, err := os.ReadDir(filepath.Join(a.Home, unrecordedFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list unrecorded apps: %w", err)
	}
	var bundles []agent.Bundle
	for _, e := range entries {
		bundle := agent.BundleOf(a.Home, e.Name())
		if bundle.Exists() {
			bundles = append(bundles, bundle)
		} else if info, err := e.Info(); err == nil && agent.Settled(info) {
			_ = os.Remove(filepath.Join(a.Home, unrecordedFolder, e.Name())) // the app was deleted
		}
	}
	return bundles, nil
}
