//go:build !unix

package local

import (
	"context"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
)

var errNoProcesses = backend.Errorf(backend.ErrUnsupported, "the local backend needs Linux or macOS")

// Submit is not possible on this system.
func (b *Backend) Submit(context.Context, *backend.Plan) error { return errNoProcesses }

// Probe says that this system cannot run local apps.
func (b *Backend) Probe(context.Context) error { return errNoProcesses }

// OpenTerminal is not possible on this system.
func (b *Backend) OpenTerminal(context.Context, string, backend.TerminalOptions) (backend.Terminal, error) {
	return nil, errNoProcesses
}

// LimitedCommand is the hidden command of ExecLimited.
const LimitedCommand = "limited"

// ExecLimited is not possible on this system.
func ExecLimited([]string) (code int, err error) { return 125, errNoProcesses }

// RunAgent is not possible on this system.
func RunAgent(string, func(ctx context.Context, home string) (agent.Store, error)) int { return 1 }
