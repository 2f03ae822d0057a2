package supervised

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
)

const outputKey = "output_dir"

// OutputOption is the option that moves the outputs of apps.
var OutputOption = backend.Option{
	Key: outputKey, Risk: backend.Writes, Path: true, Type: backend.TypeStr,
	Help: "folder in which each app gets a folder for its outputs, $TORCHX_OUTPUT; kept on delete (default: inside TORCHX_HOME)",
}

// OutputPath returns the folder of an app's outputs, absolute, if the options choose one.
func OutputPath(in backend.PlanInput) string {
	dir, _ := in.Cfg[outputKey].(string)
	if dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(in.Cwd, dir)
	}
	return agent.OutputPath(dir, in.ID)
}

// LoadedOutputPath is OutputPath for a plan that was read, in which planned is the folder: that
// of another app ID if the plan is a copy.
func LoadedOutputPath(in backend.PlanInput, planned string) string {
	if planned == "" {
		return OutputPath(in)
	}
	if !filepath.IsAbs(planned) {
		planned = filepath.Join(in.Cwd, planned)
	}
	return agent.OutputPath(filepath.Dir(planned), in.ID)
}

// OutputOf returns where the outputs of an app are.
func (a *Apps) OutputOf(_ context.Context, id string) (*backend.Output, error) {
	bundle := a.Bundle(id)
	if !a.Has(id) {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	m, err := bundle.Manifest()
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	out := &backend.Output{Place: bundle.OutputDir(m), Here: true, Kept: m.OutputDir != ""}
	if _, err := os.Lstat(out.Place); err != nil {
		return nil, backend.Errorf(backend.ErrNotFound, "app %s has no output folder: %s", id,
			missingOutput(m, bundle))
	}
	return out, nil
}

// missingOutput says why the folder of outputs does not exist.
func missingOutput(m *agent.Manifest, bundle agent.Bundle) string {
	if s, err := bundle.Status(); err == nil && s.StartedAt == nil {
		return "it has not started"
	}
	if m.OutputDir != "" {
		return m.OutputDir + " was removed"
	}
	return "it was submitted by an older torchx"
}

// removeEmptyOutput removes the folder of an app below output_dir if the app wrote nothing.
func removeEmptyOutput(bundle agent.Bundle) {
	if m, err := bundle.Manifest(); err == nil && m.OutputDir != "" {
		_ = os.Remove(m.OutputDir) // fails if it has files
	}
}
