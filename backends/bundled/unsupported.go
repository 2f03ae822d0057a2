//go:build !unix

package bundled

import (
	"context"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
)

// Start is not possible on this system.
func (a *Apps) Start(*agent.Manifest, bool) error {
	return backend.Errorf(backend.ErrUnsupported, "the %s backend needs Linux or macOS", a.Backend)
}

// Cancel finds nothing to cancel.
func (a *Apps) Cancel(context.Context, string, backend.CancelOptions) error { return nil }
