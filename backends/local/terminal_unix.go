//go:build unix

package local

import (
	"context"

	"torchx/backends/bundled"
	"torchx/runtime/backend"
)

// OpenTerminal connects to the terminal of an app.
func (b *Backend) OpenTerminal(_ context.Context, id string, o backend.TerminalOptions) (backend.Terminal, error) {
	return bundled.OpenTerminal(b.Apps, id, o)
}
