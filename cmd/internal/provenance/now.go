package provenance

import (
	"context"
	"os"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/history"
	"torchx/runtime/provenance"
)

// nowLimit bounds the work of git while the user waits.
const nowLimit = 2 * time.Second

// Now returns the state of the checkout that has the working folder, nil if there is none or
// git cannot tell.
func Now(ctx context.Context, env program.Environment) *history.Checkout {
	if !provenance.Find(env.Dir) {
		return nil
	}
	scratch, err := os.MkdirTemp("", "torchx-checkout-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(scratch)
	ctx, cancel := context.WithTimeout(ctx, nowLimit)
	defer cancel()
	c, _, err := provenance.Collect(ctx, env.Dir, provenance.Options{Env: env.Vars, Scratch: scratch, Diff: true})
	if err != nil {
		return nil
	}
	return c
}
