package program

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/backends/driver"
	"torchx/cmd/internal/ui"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/state"
)

// ForSupervisors returns what supervisors of apps use of this program. registry is
// Environment.Registry.
func ForSupervisors(registry func(driver.Env) *backend.Registry) driver.Program {
	return driver.Program{
		OpenStore: openStore,
		OpenRunner: func(ctx context.Context, o driver.RunnerOptions) (*driver.Runner, error) {
			return openRunner(ctx, o, registry)
		},
	}
}

// openStore opens the history for an agent, which also uses a history of a later version.
func openStore(ctx context.Context, home string) (agent.Store, error) {
	db, err := state.Open(ctx, filepath.Join(home, HistoryFile), state.Options{Agent: true})
	if err != nil {
		return nil, err
	}
	return supervisorStore{db}, nil
}

// supervisorStore is the history of a supervisor, which closes it when it is about to exit.
type supervisorStore struct{ *state.DB }

// Close implements agent.Store.
func (s supervisorStore) Close() error { return s.CloseForExit() }

// openRunner opens the runner of a supervisor whose app runs others. Without the history it
// warns and works on, as commands do.
func openRunner(
	ctx context.Context, o driver.RunnerOptions, registry func(driver.Env) *backend.Registry,
) (*driver.Runner, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env := Environment{
		Vars: append(slices.Clone(o.Environ), "TORCHX_HOME="+o.Home), Dir: o.Dir, Exe: exe, Registry: registry,
	}
	f := NewFactory(ui.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard},
		env, Definition{}, nil)
	db, dbErr := state.Open(ctx, filepath.Join(o.Home, HistoryFile), state.Options{Agent: true})
	if dbErr == nil {
		f.shared.db.Store(db)
	} else if o.Warn != nil {
		o.Warn("continuing without the history: " + dbErr.Error())
	}
	r, err := f.Planner()
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	if r.Warn = o.Warn; dbErr == nil {
		r.History = db
	}
	return &driver.Runner{Runner: r, Close: f.close}, nil
}
