//go:build !unix

package docker

import (
	"context"

	"torchx/runtime/agent"
)

// RunAgent is not possible on this system.
func RunAgent(string, func(ctx context.Context, home string) (agent.Store, error)) int { return 1 }
