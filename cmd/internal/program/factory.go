package program

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/starlark/interp"
	"torchx/state"
)

// Factory provides what commands need: the console, the environment and, opened on first
// use so that a start costs nothing, the configuration, the backends and the history.
// Commands do not change it: InDir and With return changed copies.
type Factory struct {
	*ui.Console
	Env        Environment
	Interrupts *Interrupts
	Display    *ui.Display
	Random     func() uint64 // random source of app IDs; nil is the system's secure source
	Cfg        backend.Layer // -cfg of commands that submit nothing, such as a namespace

	def     Definition
	offline bool // --offline
	opened  *opened
	shared  *shared
}

// opened holds what one Factory has opened.
type opened struct {
	config   lazy[*config.Config]
	registry lazy[*backend.Registry]
	runner   lazy[*runner.Runner]
}

// shared holds what copies of a Factory have in common.
type shared struct {
	history    lazy[*state.DB]
	db         atomic.Pointer[state.DB] // the open history, nil for none
	settle     sync.Once
	mu         sync.Mutex
	registries []*backend.Registry
}

// lazy is a value that is created on first use.
type lazy[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (l *lazy[T]) get(open func() (T, error)) (T, error) {
	l.once.Do(func() { l.value, l.err = open() })
	return l.value, l.err
}

// NewFactory returns a Factory that has opened nothing.
func NewFactory(s ui.Streams, env Environment, def Definition, i *Interrupts) *Factory {
	f := &Factory{Console: ui.NewConsole(s), Env: env, Interrupts: i, def: def, shared: &shared{}}
	if env.Get("NO_COLOR") == "" && env.Get("TERM") != "dumb" {
		f.OutStyle.Color = ui.IsTerminal(s.Out)
		f.ErrStyle.Color = ui.IsTerminal(s.Err)
	}
	f.reset()
	return f
}

// reset gives f its own lazily opened parts and its own display.
func (f *Factory) reset() {
	f.opened = &opened{}
	f.Rules = sync.OnceValues(f.SecretRules)
	f.Display = ui.NewDisplay(f.Console, f.Env.Get("TERM") == "dumb")
}

// With returns a copy changed by change. The copy opens its own configuration, backends and
// runner, and shares the history and the interrupts.
func (f *Factory) With(change func(*Factory)) *Factory {
	c := *f
	c.Console = f.Clone()
	change(&c)
	c.reset()
	return &c
}

// InDir returns a copy whose working folder is dir.
func (f *Factory) InDir(dir string) *Factory {
	return f.With(func(c *Factory) { c.Env = f.Env.InDir(dir) })
}

// ProjectRoot returns the root of the project that contains the working folder.
func (f *Factory) ProjectRoot() string {
	return interp.WorkspaceRoot(filepath.Join(f.Env.Dir, "_"))
}

// Resolve returns the runner and the app that text names: a handle, a unique prefix of an
// ID, or - for the most recent app.
func (f *Factory) Resolve(ctx context.Context, text string) (*runner.Runner, runner.Ref, error) {
	r, err := f.Runner(ctx)
	if err != nil {
		return nil, runner.Ref{}, err
	}
	ref, err := r.Resolve(ctx, text)
	return r, ref, err
}

// close closes what f and its copies opened; apps go on.
func (f *Factory) close() error {
	f.shared.mu.Lock()
	defer f.shared.mu.Unlock()
	var errs []error
	for _, r := range f.shared.registries {
		errs = append(errs, r.Close())
	}
	switch db := f.shared.db.Load(); {
	case db == nil:
	case f.Env.Exit == nil: // the process goes on, as one that runs tests does
		errs = append(errs, db.Close())
	default:
		errs = append(errs, db.CloseForExit())
	}
	return errors.Join(errs...)
}
