//go:build !unix

package local

import (
	"context"

	"torchx/backends/driver"
	"torchx/runtime/backend"
)

var errNoProcesses = backend.Errorf(backend.ErrUnsupported, "the local backend needs Linux or macOS")

// Submit is not supported on this system.
func (b *Backend) Submit(context.Context, *backend.Plan) error { return errNoProcesses }

// Probe fails: this system cannot run local apps.
func (b *Backend) Probe(context.Context) error { return errNoProcesses }

// OpenTerminal is not supported on this system.
func (b *Backend) OpenTerminal(context.Context, string, backend.TerminalOptions) (backend.Terminal, error) {
	return nil, errNoProcesses
}

func runAgent(string, driver.Program) int { return 1 }

func hiddenCommands() map[string]func([]string) (int, error) { return nil }
