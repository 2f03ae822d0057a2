package slurm

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"

	"torchx/backends/slurm/script"
	"torchx/runtime/backend"
)

// Options lists the -cfg keys.
func (b *Backend) Options() []backend.Option { return script.OptionList() }

// Plan returns the batch script of an app. It runs no command.
func (b *Backend) Plan(ctx context.Context, in backend.PlanInput) (*backend.Plan, error) {
	return script.Plan(ctx, b.planInput(in))
}

// Load rebuilds a plan from its JSON form.
func (b *Backend) Load(
	_ context.Context, in backend.PlanInput, raw json.RawMessage,
) (*backend.Plan, error) {
	return script.Load(b.planInput(in), raw)
}

func (b *Backend) planInput(in backend.PlanInput) script.Input {
	base := b.baseDir(in.Cfg, in.Cwd)
	return script.Input{PlanInput: in, Base: base, Handle: handleOf(in.ID), Writer: b.writerPath(base)}
}

// programFolder is the folder beside those of apps for copies of this program: inside the
// allocation it writes the logs, also after this program was replaced by another version.
const programFolder = "bin"

// writerPath returns the path of this program's copy.
func (b *Backend) writerPath(base string) string {
	name, ok := programName(b.config.Exe)
	if !ok {
		return ""
	}
	return filepath.Join(base, programFolder, name)
}

// ResolveTarget makes job_dir absolute, so that the app is found from another working folder.
func (b *Backend) ResolveTarget(cfg backend.Config) (backend.Config, error) {
	dir, _ := cfg["job_dir"].(string)
	if dir == "" || filepath.IsAbs(dir) {
		return cfg, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cfg = maps.Clone(cfg)
	cfg["job_dir"] = dir
	return cfg, nil
}
