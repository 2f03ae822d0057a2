package main

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
	"torchx/runtime/runner"
	"torchx/starlark/component"
	"torchx/state"
)

// defaultImage is torchx.IMAGE where neither $TORCHX_IMAGE nor [torchx] image
// says otherwise: a public image that has torchrun.
const defaultImage = "docker.io/pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"

// historyFile is the history within TORCHX_HOME.
const historyFile = "state.db"

// registry returns the backends; none is opened or contacted yet.
func (t *tool) registry() (*backend.Registry, error) {
	if t.backends == nil {
		home, err := t.env.home()
		if err != nil {
			return nil, err
		}
		t.backends = t.env.registry(driver.Env{
			Home: home, Exe: t.env.exe, Version: version, Offline: t.offline, Environ: t.env.vars, Settings: t.settings,
			Positions: t.positions, Warn: func(line string) { t.warn("%s", line) },
		})
	}
	return t.backends, nil
}

// settings are the options by which a backend reaches an app: those that the
// history has of it; of an unknown one, and of all (""), those that -cfg and the
// .torchxconfig files give.
func (t *tool) settings(ctx context.Context, backendName, id string) (backend.Config, error) {
	if id != "" && t.db != nil {
		cfg := backend.Config{}
		row, err := t.db.Get(ctx, backendName, id)
		if err == nil && json.Unmarshal(row.Cfg, &cfg) == nil {
			return cfg, nil
		}
	}
	conf, err := t.config()
	if err != nil {
		return nil, err
	}
	r, err := t.planner()
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
	cfg, _, err := backend.Resolve(options, t.given, configured)
	return cfg, err
}

// positions is where cursors of archived logs are kept: the history, if it can be written.
func (t *tool) positions(context.Context) driver.Positions {
	if t.db == nil || t.db.ReadOnly() {
		return nil
	}
	return t.db
}

// config returns what the .torchxconfig files say.
func (t *tool) config() (*config.Config, error) {
	if t.conf == nil {
		c, err := config.Load(config.Options{LookupEnv: t.env.lookup, Cwd: t.env.dir})
		if err != nil {
			return nil, err
		}
		t.conf = c
	}
	return t.conf, nil
}

// image is torchx.IMAGE: what components use unless they are told otherwise.
func (t *tool) image() (string, error) {
	if image := t.env.get("TORCHX_IMAGE"); image != "" {
		return image, nil
	}
	c, err := t.config()
	if err != nil {
		return "", err
	}
	if v, ok := c.Image(); ok && v.Text != "" {
		return v.Text, nil
	}
	return defaultImage, nil
}

func (t *tool) loader() (*component.Loader, error) {
	image, err := t.image()
	if err != nil {
		return nil, err
	}
	resources, err := t.resources()
	if err != nil {
		return nil, err
	}
	libraries := t.openLibraries()
	return component.NewLoader(component.Config{
		Dir: t.env.dir, Builtins: components.FS, Image: image, Version: version, Resources: resources,
		Library: libraries.Open, Libraries: libraries.Names,
		Getenv: t.env.lookup,
		Print:  func(msg string) { t.line("", msg) },
		Fatal:  func(err error) { os.Exit(t.report(context.Background(), err)) },
	}), nil
}

// planner returns a runner without a history: planning opens and makes no file.
func (t *tool) planner() (*runner.Runner, error) {
	reg, err := t.registry()
	if err != nil {
		return nil, err
	}
	return &runner.Runner{
		Backends: reg, LookupEnv: t.env.lookup, Rand: t.random, Warn: t.warnOnce,
	}, nil
}

// runner returns the runner with its history open.
func (t *tool) runner(ctx context.Context) (*runner.Runner, error) {
	if t.runs != nil {
		return t.runs, nil
	}
	r, err := t.planner()
	if err != nil {
		return nil, err
	}
	home, err := t.env.home()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("create %s: %w (set TORCHX_HOME to a folder that can be written)", home, pathCause(err))
	}
	if err := t.openHistory(ctx, home); err != nil {
		return nil, err
	}
	r.DB = t.db
	r.Settle(ctx)
	t.runs = r
	return r, nil
}

// resolve returns the runner and the app that text names: a handle, the beginning
// of an id, or - for the last one.
func (t *tool) resolve(ctx context.Context, text string) (*runner.Runner, runner.Ref, error) {
	r, err := t.runner(ctx)
	if err != nil {
		return nil, runner.Ref{}, err
	}
	ref, err := r.Resolve(ctx, text)
	return r, ref, err
}

// openHistory opens the history. Without it everything but the history itself
// works, so a file that cannot be used is only a warning; one that a later
// version wrote is an error, since its apps may mean something else.
func (t *tool) openHistory(ctx context.Context, home string) error {
	db, err := state.Open(ctx, filepath.Join(home, historyFile), state.Options{SetAside: true})
	switch {
	case errors.Is(err, state.ErrNewerSchema), ctx.Err() != nil:
		return err
	case err != nil:
		t.warn("going on without the history: %v", err)
		return nil
	}
	t.db = db
	for _, n := range db.Notices() {
		t.warn("%s", n)
	}
	return nil
}

// pathCause leaves the path out of an error that names it already.
func pathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// close lets go of what was opened, since the process ends; apps go on.
func (t *tool) close() error {
	var errs []error
	if t.backends != nil {
		errs = append(errs, t.backends.Close())
	}
	if t.db != nil {
		errs = append(errs, t.db.Leave())
	}
	return errors.Join(errs...)
}
