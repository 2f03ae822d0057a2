package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"torchx/backends/driver"
	"torchx/components"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/starlark/component"
	"torchx/state"
)

// DefaultImage is torchx.IMAGE where neither $TORCHX_IMAGE nor [torchx] image
// says otherwise: a public image that has torchrun.
const DefaultImage = "docker.io/pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"

// HistoryFile is the history within TORCHX_HOME.
const HistoryFile = "state.db"

// Registry returns the backends; none is opened or contacted yet.
func (t *Factory) Registry() (*backend.Registry, error) {
	if t.Backends == nil {
		home, err := t.Env.Home()
		if err != nil {
			return nil, err
		}
		t.Backends = t.Env.Registry(driver.Env{
			Home: home, Exe: t.Env.Exe, Version: Version, Offline: t.offline, Environ: t.Env.Vars, Settings: t.settings,
			Positions: t.positions, Warn: func(line string) { t.Warn("%s", line) },
		})
	}
	return t.Backends, nil
}

// settings are the options by which a backend reaches an app: those that the
// history has of it; of an unknown one, and of all (""), those that -cfg and the
// .torchxconfig files give.
func (t *Factory) settings(ctx context.Context, backendName, id string) (backend.Config, error) {
	if id != "" && t.Db != nil {
		cfg := backend.Config{}
		row, err := t.Db.Get(ctx, backendName, id)
		if err == nil && json.Unmarshal(row.Cfg, &cfg) == nil {
			return cfg, nil
		}
	}
	conf, err := t.Config()
	if err != nil {
		return nil, err
	}
	r, err := t.Planner()
	if err != nil {
		return nil, err
	}
	configured, err := r.ConfigLayer(conf, backendName)
	if err != nil {
		return nil, err
	}
	b, err := r.Backends.Get(backendName)
	if err != nil {
		return nil, err
	}
	options := slices.Clone(b.Options())
	for i := range options {
		options[i].Default, options[i].Required = nil, false // only what somebody gave
	}
	cfg, _, err := backend.Resolve(options, t.Given, configured)
	return cfg, err
}

// positions is where cursors of archived logs are kept: the history, if it can be written.
func (t *Factory) positions(context.Context) history.Positions {
	if t.Db == nil || t.Db.ReadOnly() {
		return nil
	}
	return t.Db
}

// Config returns what the .torchxconfig files say.
func (t *Factory) Config() (*config.Config, error) {
	if t.Conf == nil {
		c, err := config.Load(config.Options{LookupEnv: t.Env.Lookup, Cwd: t.Env.Dir})
		if err != nil {
			return nil, err
		}
		t.Conf = c
	}
	return t.Conf, nil
}

// Image is torchx.IMAGE: what components use unless they are told otherwise.
func (t *Factory) Image() (string, error) {
	if image := t.Env.Get("TORCHX_IMAGE"); image != "" {
		return image, nil
	}
	c, err := t.Config()
	if err != nil {
		return "", err
	}
	if v, ok := c.Image(); ok && v.Text != "" {
		return v.Text, nil
	}
	return DefaultImage, nil
}

func (t *Factory) Loader() (*component.Loader, error) {
	image, err := t.Image()
	if err != nil {
		return nil, err
	}
	resources, err := t.resources()
	if err != nil {
		return nil, err
	}
	libraries := t.OpenLibraries()
	return component.NewLoader(component.Config{
		Dir: t.Env.Dir, Builtins: components.FS, Image: image, Version: Version, Resources: resources,
		Library: libraries.Open, Libraries: libraries.Names,
		Getenv: t.Env.Lookup,
		Print:  func(msg string) { t.Line("", msg) },
		Fatal:  func(err error) { os.Exit(t.Report(context.Background(), err)) },
	}), nil
}

// Planner returns a runner without a history: planning opens and makes no file.
func (t *Factory) Planner() (*runner.Runner, error) {
	reg, err := t.Registry()
	if err != nil {
		return nil, err
	}
	return &runner.Runner{
		Backends: reg, LookupEnv: t.Env.Lookup, Rand: t.Random, Warn: t.WarnOnce,
	}, nil
}

// Runner returns the runner with its history open.
func (t *Factory) Runner(ctx context.Context) (*runner.Runner, error) {
	if t.runs != nil {
		return t.runs, nil
	}
	r, err := t.Planner()
	if err != nil {
		return nil, err
	}
	home, err := t.Env.Home()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("create %s: %w (set TORCHX_HOME to a folder that can be written)", home, PathCause(err))
	}
	if err := t.openHistory(ctx, home); err != nil {
		return nil, err
	}
	if t.Db != nil { // a nil *state.DB in the interface would not compare as nil
		r.History = t.Db
	}
	r.Reconcile(ctx)
	t.runs = r
	return r, nil
}

// Resolve returns the runner and the app that text names: a handle, the beginning
// of an id, or - for the last one.
func (t *Factory) Resolve(ctx context.Context, text string) (*runner.Runner, runner.Ref, error) {
	r, err := t.Runner(ctx)
	if err != nil {
		return nil, runner.Ref{}, err
	}
	ref, err := r.Resolve(ctx, text)
	return r, ref, err
}

// openHistory opens the history. Without it everything but the history itself
// works, so a file that cannot be used is only a warning; one that a later
// version wrote is an error, since its apps may mean something else.
func (t *Factory) openHistory(ctx context.Context, home string) error {
	db, err := state.Open(ctx, filepath.Join(home, HistoryFile), state.Options{SetAside: true})
	switch {
	case errors.Is(err, state.ErrNewerSchema), ctx.Err() != nil:
		return err
	case err != nil:
		t.Warn("going on without the history: %v", err)
		return nil
	}
	t.Db = db
	for _, n := range db.Notices() {
		t.Warn("%s", n)
	}
	return nil
}

// PathCause leaves the path out of an error that names it already.
func PathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// close lets go of what was opened, since the process ends; apps go on.
func (t *Factory) close() error {
	var errs []error
	if t.Backends != nil {
		errs = append(errs, t.Backends.Close())
	}
	if t.Db != nil {
		errs = append(errs, t.Db.Leave())
	}
	return errors.Join(errs...)
}
