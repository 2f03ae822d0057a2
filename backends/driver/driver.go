// Package driver is how a backend makes itself known to the program: its package has a
// function that returns a Driver, and package backends/all lists those functions. Nothing
// else outside of a backend's package names it.
package driver

import (
	"context"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/history"
)

// Driver describes one backend. Name and Open are required.
type Driver struct {
	Name    string
	Aliases map[string]map[string]string // other names, each with the options it implies
	// Open returns the backend; it touches and contacts nothing.
	Open func(Env) (backend.Backend, error)

	// RunAgent is the detached process that supervises an app of the backend (see
	// agent.Life); it returns the exit code. OwnsDir reports whether the app's folder,
	// which is the argument of that process, is of this backend. Both are nil if the
	// backend has no such process.
	RunAgent func(dir string, open agent.StoreOpener) int
	OwnsDir  func(dir string) bool

	// Commands are processes of this program that the backend starts for itself, by
	// their first argument. Each returns the exit code.
	Commands map[string]func(args []string) (int, error)
}

// Env is what backends need of the program.
type Env struct {
	Home    string   // TORCHX_HOME, absolute
	Exe     string   // this program, to be run as the agent
	Version string   // of this program
	Offline bool     // the user forbids the network
	Environ []string // of the command, "K=V"; nil: this process's own
	// Settings returns the options by which a backend reaches an app, or for "" all
	// of them: those the app was submitted with, else those of files and command line.
	// nil: there are none.
	Settings func(ctx context.Context, backendName, id string) (backend.Config, error)
	// Positions returns where positions in remote logs are stored; nil, or a nil result,
	// if there is no history.
	Positions func(ctx context.Context) history.Positions
	// Warn receives what did not stop the work, one line each; nil drops it.
	Warn func(line string)
	// Offering opens the first backend that offers a service; nil if none does.
	Offering func(offers func(backend.Backend) bool) (backend.Backend, error)
}

// Register adds the backend to a registry, which opens it on first use.
func (d Driver) Register(r *backend.Registry, e Env) {
	r.Add(d.Name, func() (backend.Backend, error) { return d.Open(e) })
	for name, defaults := range d.Aliases {
		r.AddAlias(name, backend.Alias{Backend: d.Name, Defaults: defaults})
	}
}

// OwnsBundle returns an OwnsDir of a backend whose apps are bundles.
func OwnsBundle(backendName string) func(dir string) bool {
	return func(dir string) bool {
		m, err := agent.Bundle{Dir: dir}.Manifest()
		return err == nil && m.Backend == backendName
	}
}
