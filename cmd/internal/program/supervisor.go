package program

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/backends/all"
	"torchx/backends/driver"
	"torchx/cmd/internal/ui"
	"torchx/runtime/agent"
	"torchx/state"
)

// RunSupervisor runs the supervisor of the app in dir and returns the process's exit code.
func RunSupervisor(dir string) int {
	if !agent.AwaitBundle(dir) {
		return ExitError
	}
	return all.RunAgent(dir, driver.Program{OpenStore: openStore, OpenRunner: openRunner})
}

// openStore opens the history for an agent, which also uses a history of a later version.
func openStore(ctx context.Context, home string) (agent.Store, error) {
	return state.Open(ctx, filepath.Join(home, HistoryFile), state.Options{Agent: true})
}

// openRunner opens the runner of a supervisor whose app runs others. Without the history it
// warns and works on, as commands do.
func openRunner(ctx context.Context, o driver.RunnerOptions) (*driver.Runner, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env := Environment{
		Vars: append(slices.Clone(o.Environ), "TORCHX_HOME="+o.Home), Dir: o.Dir, Exe: exe, Registry: OpenBackends,
	}
	f := NewFactory(ui.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, env, Definition{}, nil)
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
