package runner

import (
	"context"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// ErrNoTerminal means that a backend cannot run apps on a terminal.
var ErrNoTerminal = errors.New("a terminal (--tty) is not supported by backend")

// ErrManyReplicas means that an app has too many replicas for a terminal.
var ErrManyReplicas = errors.New("a terminal (--tty) requires an app of one replica")

// CheckTerminal checks whether a plan can run on a terminal. Errors: ErrNoTerminal,
// ErrManyReplicas.
func (r *Runner) CheckTerminal(p *Planned) error {
	if n := replicaCount(p.Plan.App); n != 1 {
		return fmt.Errorf("%w, this one has %d", ErrManyReplicas, n)
	}
	_, err := r.terminals(p.Backend)
	return err
}

func replicaCount(app *spec.App) (n int) {
	for i := range app.Roles {
		n += app.Roles[i].NumReplicas
	}
	return n
}

func (r *Runner) terminals(backendName string) (backend.TerminalOpener, error) {
	can, err := r.Backends.Capabilities(backendName)
	if err == nil && can.Terminal == nil {
		err = fmt.Errorf("%w %s", ErrNoTerminal, backendName)
	}
	return can.Terminal, err
}

// OpenTerminal connects to an app's terminal. Errors: ErrNoTerminal, backend.ErrNotFound,
// backend.ErrUnsupported if the app was started without one.
func (r *Runner) OpenTerminal(
	ctx context.Context, ref history.AppKey, o backend.TerminalOptions,
) (backend.Terminal, error) {
	t, err := r.terminals(ref.Backend)
	if err != nil {
		return nil, err
	}
	return t.OpenTerminal(ctx, ref.ID, o)
}
