package bundled

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

// unrecordedFolder is the folder of a home with an empty file for each app that
// the history could not take when it was submitted.
const unrecordedFolder = "unrecorded"

var (
	_ backend.Sweeper         = (*Apps)(nil)
	_ backend.HistoryRestorer = (*Apps)(nil)
)

// Sweep ends what dead agents left running.
func (a *Apps) Sweep(context.Context) error { return agent.Sweep(a.Home, a.Exe) }

func (a *Apps) unrecorded(id string) string {
	return filepath.Join(a.Home, unrecordedFolder, agent.Escape(id))
}

// noteUnrecorded is best effort: the app itself is what matters.
func (a *Apps) noteUnrecorded(id string) {
	path := a.unrecorded(id)
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = safefile.WriteFile(path, nil)
	}
}

// MarkRecorded takes the note of an app away.
func (a *Apps) MarkRecorded(_ context.Context, id string) error {
	err := os.Remove(a.unrecorded(id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("app %s is in the history now, but its note stays: %w", id, err)
	}
	return nil
}

// AppRecords reads bundles.
func (a *Apps) AppRecords(_ context.Context, all bool) ([]backend.AppRecord, error) {
	bundles, err := a.bundlesToRestore(all)
	if err != nil {
		return nil, err
	}
	var memories []backend.AppRecord
	for _, bundle := range bundles {
		m, err := bundle.Manifest()
		if err != nil || m.Backend != a.Backend {
			continue
		}
		s, err := bundle.Recover(a.Exe)
		if err != nil {
			continue
		}
		memories = append(memories, backend.AppRecord{
			ID: m.ID, App: m.App, Cfg: m.Cfg, Record: m.Record, SubmittedAt: m.SubmittedAt, Status: s,
		})
	}
	return memories, nil
}

func (a *Apps) bundlesToRestore(all bool) ([]agent.Bundle, error) {
	if all {
		return agent.List(a.Home)
	}
	entries, err := os.ReadDir(filepath.Join(a.Home, unrecordedFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for apps that are not in the history: %w", err)
	}
	var bundles []agent.Bundle
	for _, e := range entries {
		bundle := agent.BundleOf(a.Home, e.Name())
		if bundle.Exists() {
			bundles = append(bundles, bundle)
		} else if info, err := e.Info(); err == nil && agent.Settled(info) {
			_ = os.Remove(filepath.Join(a.Home, unrecordedFolder, e.Name())) // deleted since
		}
	}
	return bundles, nil
}
