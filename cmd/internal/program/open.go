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
	"time"

	"torchx/backends/driver"
	"torchx/components"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/starlark/component"
	"torchx/state"
)

// DefaultImage is torchx.IMAGE unless $TORCHX_IMAGE or [torchx] image is set: a public image
// that contains torchrun.
const DefaultImage = "docker.io/pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"

// HistoryFile is the name of the history below TORCHX_HOME.
const HistoryFile = "state.db"

// Config returns the settings of the .torchxconfig files.
func (f *Factory) Config() (*config.Config, error) {
	return f.opened.config.get(func() (*config.Config, error) {
		return config.Load(config.Options{LookupEnv: f.Env.Lookup, Cwd: f.Env.Dir})
	})
}

// Registry returns the backends without opening or contacting one.
func (f *Factory) Registry() (*backend.Registry, error) {
	return f.opened.registry.get(func() (*backend.Registry, error) {
		home, err := f.Env.Home()
		if err != nil {
			return nil, err
		}
		r := f.Env.Registry(driver.Env{
			Home: home, Exe: f.Env.Exe, Version: Version, Offline: f.offline, Environ: f.Env.Vars, Settings: f.settings,
			Positions: f.positions, Warn: func(line string) { f.Warn("%s", line) },
		})
		f.shared.mu.Lock()
		defer f.shared.mu.Unlock()
		f.shared.registries = append(f.shared.registries, r)
		return r, nil
	})
}

// settings returns the options with which a backend reaches an app: the recorded options,
// or for an unknown app and for all apps ("") those of -cfg and the .torchxconfig files.
func (f *Factory) settings(ctx context.Context, backendName, id string) (backend.Config, error) {
	if db := f.shared.db.Load(); id != "" && db != nil {
		cfg := backend.Config{}
		row, err := db.Get(ctx, backendName, id)
		if err == nil && json.Unmarshal(row.Cfg, &cfg) == nil {
			return cfg, f.recordedConsent(backendName, id, cfg)
		}
	}
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	r, err := f.Planner()
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
		options[i].Default, options[i].Required = nil, false // only options that are set
	}
	cfg, _, err := backend.Resolve(options, f.Cfg, f.EnvironmentLayer(b), configured)
	if err != nil {
		return nil, err
	}
	return cfg, f.CheckOrigins(ProjectOrigins(b.Options(), f.Cfg, configured)...)
}

// recordedConsent checks the consent to files in the recorded options of an app.
func (f *Factory) recordedConsent(backendName, id string, cfg backend.Config) error {
	reg, err := f.Registry()
	if err != nil {
		return err
	}
	b, err := reg.Get(backendName)
	if err != nil {
		return err
	}
	handle := history.AppKey{ID: id, Backend: backendName}.Handle()
	return f.Recheck(b, backend.JSONLayer(cfg, handle).From(backend.SourceRecord))
}

// positions returns the store of cursors of archived logs: the history, nil if it is not
// writable.
func (f *Factory) positions(context.Context) history.Positions {
	db := f.shared.db.Load()
	if db == nil || db.ReadOnly() {
		return nil
	}
	return db
}

// Image returns torchx.IMAGE, the default image of components.
func (f *Factory) Image() (string, error) {
	if image := f.Env.Get("TORCHX_IMAGE"); image != "" {
		return image, nil
	}
	c, err := f.Config()
	if err != nil {
		return "", err
	}
	if v, ok := c.Image(); ok && v.Text != "" {
		return v.Text, nil
	}
	return DefaultImage, nil
}

// Loader returns a loader of components for the working folder.
func (f *Factory) Loader() (*component.Loader, error) {
	return f.loader(func(msg string) { f.Line("", msg) })
}

// QuietLoader is Loader without the output of print().
func (f *Factory) QuietLoader() (*component.Loader, error) { return f.loader(nil) }

func (f *Factory) loader(show func(msg string)) (*component.Loader, error) {
	image, err := f.Image()
	if err != nil {
		return nil, err
	}
	resources, err := f.ProjectResources()
	if err != nil {
		return nil, err
	}
	libraries := f.OpenLibraries()
	return component.NewLoader(component.Config{
		Dir: f.Env.Dir, Builtins: components.FS, Image: image, Version: Version, Resources: namedResources(resources),
		Library: libraries.Open, Libraries: libraries.Names,
		Getenv: f.Env.Lookup,
		Hidden: func(builtin, by string) { f.SayOnce("%s is %s of this folder", builtin, by) },
		Print:  show,
		Fatal:  func(err error) { os.Exit(f.Report(context.Background(), err)) },
	}), nil
}

// Planner returns a runner without a history: planning opens and creates no file.
func (f *Factory) Planner() (*runner.Runner, error) {
	reg, err := f.Registry()
	if err != nil {
		return nil, err
	}
	return &runner.Runner{
		Backends: reg, LookupEnv: f.Env.Lookup, Rand: f.Random, Warn: f.WarnOnce,
	}, nil
}

// Runner returns the runner with its history open.
func (f *Factory) Runner(ctx context.Context) (*runner.Runner, error) {
	return f.opened.runner.get(func() (*runner.Runner, error) {
		r, err := f.Planner()
		if err != nil {
			return nil, err
		}
		db, err := f.shared.history.get(func() (*state.DB, error) { return f.openHistory(ctx) })
		if err != nil {
			return nil, err
		}
		if db != nil { // a nil *state.DB in the interface would not compare as nil
			r.History = db
		}
		f.shared.settle.Do(func() { r.Reconcile(ctx) })
		return r, nil
	})
}

// openHistory opens the history. Everything else works without it, so an unusable file is
// only a warning. A file of a later version is an error, because its apps may have another
// meaning.
func (f *Factory) openHistory(ctx context.Context) (*state.DB, error) {
	home, err := f.Env.Home()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("create %s: %w (set TORCHX_HOME to a writable folder)",
			home, PathCause(err))
	}
	db, err := state.Open(ctx, filepath.Join(home, HistoryFile), state.Options{
		SetAside: true, Slow: func(what string) func() { return f.SayIfSlow("%s", what) },
	})
	switch {
	case errors.Is(err, state.ErrNewerSchema), ctx.Err() != nil:
		return nil, err
	case err != nil:
		f.Warn("continuing without the history: %v", err)
		return nil, nil
	}
	f.shared.db.Store(db)
	for _, n := range db.Notices() {
		f.Warn("%s", n)
	}
	return db, nil
}

// peekTimeout bounds the wait for a locked history while the user waits.
const peekTimeout = 50 * time.Millisecond

// PeekHistory returns the history for a quick lookup, nil if it does not exist or stays
// locked. It creates no file.
func (f *Factory) PeekHistory(ctx context.Context) *state.DB {
	db, err := f.shared.history.get(func() (*state.DB, error) {
		home, err := f.Env.Home()
		if err != nil {
			return nil, err
		}
		file := filepath.Join(home, HistoryFile)
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
		db, err := state.Open(ctx, file, state.Options{BusyTimeout: peekTimeout})
		if err == nil {
			f.shared.db.Store(db)
		}
		return db, err
	})
	if err != nil {
		return nil
	}
	return db
}

// PathCause returns the cause of a path error, for messages that name the path already.
func PathCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
