//go:build !unix

package docker

import (
	"context"

	"torchx/backends/driver"
	"torchx/runtime/backend"
)

// OpenTerminal is not supported on this system.
func (b *Backend) OpenTerminal(context.Context, string, backend.TerminalOptions) (backend.Terminal, error) {
	return nil, backend.Errorf(backend.ErrUnsupported, "apps of backend %s need Linux or macOS", Name)
}

func runAgent(string, driver.Program) int { return 1 }
