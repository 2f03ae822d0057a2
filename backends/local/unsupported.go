//go:build !unix

package local

import (
	"context"

	"torchx/backends/driver"
	"torchx/runtime/backend"
)

var errNoProcesses = backend.Errorf(backend.ErrUnsupported,
	"the local backend needs Linux or macOS")

// Submit is not supported on this system.
func (b *Backend) Submit(context.Context, *backend.Plan) error { return errNoProcesses }

// Capabilities returns only the reason: this system cannot run local apps.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{Placement: backend.Placement{RunsHere: true}, Reports: backend.Reports{Doctor: b}}
}

// Doctor returns the reason.
func (b *Backend) Doctor(context.Context) []backend.Check {
	return []backend.Check{backend.FailedCheck("reachable", "", "%v", errNoProcesses)}
}

func runAgent(string, driver.Program) int { return 1 }

func hiddenCommands() map[string]func([]string) (int, error) { return nil }
