//go:build unix

package docker

import (
	"context"

	"torchx/runtime/agent"
)

// RunAgent is the detached process of one app; it returns the exit code.
func RunAgent(dir string, open func(ctx context.Context, home string) (agent.Store, error)) int {
	return agent.Main(dir, agent.Config{
		NewLauncher: func(b agent.Bundle, m *agent.Manifest) (agent.Launcher, error) { return newLauncher(b, m) },
		OpenStore:   open,
	})
}
