//go:build unix

package docker

import (
	"torchx/backends/driver"
	"torchx/runtime/agent"
)

func runAgent(dir string, p driver.Program) int {
	return agent.Main(dir, agent.Config{
		NewLauncher: func(b agent.Bundle, m *agent.Manifest) (agent.Launcher, error) { return newLauncher(b, m) },
		OpenStore:   p.OpenStore,
	})
}
