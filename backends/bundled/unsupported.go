//go:build !unix

package bundled

import (
	"context"

	"torchx/backends"
	"torchx/runtime/agent"
)

// Start is not possible on this system.
func (a *Apps) Start(*agent.Manifest, bool) error {
	return backends.Errorf(backends.ErrUnsupported, "the %s backend needs Linux or macOS", a.Backend)
}

// Cancel finds nothing to cancel.
func (a *Apps) Cancel(context.Context, string, backends.CancelOptions) error { return nil }
