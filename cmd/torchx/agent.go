package main

import (
	"os"
	"path/filepath"

	"torchx/backends/all"
	"torchx/cmd/internal/program"
	"torchx/runtime/agent"
	"torchx/runtime/onend"
)

// agentCommand is the hidden command with which torchx starts itself, detached, as the agent
// of one app.
const agentCommand = "agent"

// runAgent runs the program of a detached process and returns its exit code.
func runAgent(dir string) int {
	switch {
	case dir == agent.SelfTestArgument:
		return agent.RunSelfTest(os.Stdout)
	case filepath.Base(dir) == agent.OnEndFolder:
		return onend.Main(dir)
	case !agent.AwaitBundle(dir):
		return program.ExitError
	}
	return all.RunAgent(dir, program.ForSupervisors(all.New))
}
