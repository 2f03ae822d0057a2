//go:build unix

package docker

import "torchx/runtime/agent"

func runAgent(dir string, open agent.StoreOpener) int {
	return agent.Main(dir, agent.Config{
		NewLauncher: func(b agent.Bundle, m *agent.Manifest) (agent.Launcher, error) { return newLauncher(b, m) },
		OpenStore:   open,
	})
}
