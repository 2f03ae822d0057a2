//go:build !unix

package supervised

import (
	"context"
	"io/fs"

	"torchx/runtime/backend"
)

// diskBytes returns the length of a file: its disk usage is not known on this system.
func diskBytes(info fs.FileInfo) int64 { return info.Size() }

// OpenTerminal is not supported on this system.
func (t Terminals) OpenTerminal(
	context.Context, string, backend.TerminalOptions,
) (backend.Terminal, error) {
	return nil, backend.Errorf(backend.ErrUnsupported,
		"apps of backend %s need Linux or macOS", t.Backend)
}
