//go:build unix

package sweep

import (
	"torchx/backends/driver"
	"torchx/runtime/agent"
)

// runAgent runs the controller of the sweep in dir and returns its exit code.
func runAgent(dir string, p driver.Program) int {
	return agent.Control(dir, p.OpenStore, func(c *agent.Controller) error { return control(c, p) })
}
