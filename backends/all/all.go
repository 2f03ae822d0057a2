// Package all knows every backend. It is the only place that does.
package all

import (
	"context"

	"torchx/backends"
	"torchx/backends/local"
	"torchx/runtime/agent"
)

// Config is what backends need of the program.
type Config struct {
	Home    string // TORCHX_HOME
	Exe     string // this program, to be run as the agent
	Version string // of this program
	Offline bool   // the user forbids the network
}

// New returns the registry; the first backend is the default one.
func New(c Config) *backends.Registry {
	r := backends.NewRegistry()
	r.Add(local.Name, func() (backends.Backend, error) {
		return local.New(local.Config{Home: c.Home, Exe: c.Exe})
	})
	r.AddAlias("local_cwd", backends.Alias{Backend: local.Name})
	r.AddAlias("local_dir", backends.Alias{Backend: local.Name, Defaults: map[string]string{"image_type": "dir"}})
	return r
}

// RunAgent runs the agent of a bundle and returns the process's exit code.
func RunAgent(bundle string, open func(ctx context.Context, home string) (agent.Store, error)) int {
	return local.RunAgent(bundle, open)
}

// LimitedCommand is the first argument that asks for ExecLimited.
const LimitedCommand = local.LimitedCommand

// ExecLimited turns this process into a replica's program with limits of its own;
// it returns only when that fails, with the exit code.
func ExecLimited(args []string) (code int, err error) { return local.ExecLimited(args) }
