// Package driver defines how backends are registered. The package of a backend has a
// function that returns a Driver, and package backends/all lists these functions. No other
// package refers to a backend.
package driver

import (
	"context"
	"errors"
	"log"
	"path/filepath"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// Driver describes one backend. Name and Open are required.
type Driver struct {
	Name    string
	Aliases map[string]map[string]string // other names, with the options that each implies
	// Open returns the backend. It accesses neither files nor the network.
	Open func(Env) (backend.Backend, error)

	// Pending are the folders of a home with an entry for each app that the backend may have to
	// recover, or to restore to the history. While they are empty it is not opened for that. None:
	// it is always opened.
	Pending []string

	// RunAgent runs the detached process that supervises an app (see agent.Supervisor) and
	// returns its exit code. OwnsDir reports whether an app's folder, the argument of that
	// process, belongs to this backend. Both are nil if the backend has no such process.
	RunAgent func(dir string, p Program) int
	OwnsDir  func(dir string) bool

	// Commands are internal commands that the backend starts as processes of this program,
	// by their first argument. Each returns the exit code.
	Commands map[string]func(args []string) (int, error)
}

// Program is what the program offers to supervisors.
type Program struct {
	OpenStore agent.StoreOpener
	// OpenRunner opens what runs other apps in a home, for their supervisor.
	OpenRunner func(ctx context.Context, o RunnerOptions) (*Runner, error)
}

// Await implements agent.Config.Await.
func (p Program) Await(ctx context.Context, m *agent.Manifest, a backend.After) (err error) {
	r, err := p.OpenRunner(ctx, RunnerOptions{
		Home: m.Home, Dir: m.Home, Environ: m.Environ, Warn: func(line string) { log.Print(line) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.AwaitAfter(ctx, a)
}

// RunnerOptions are the options of Program.OpenRunner.
type RunnerOptions struct {
	Home    string
	Dir     string   // working folder of the command that submitted the supervisor's app
	Environ []string // of that command, "K=V"
	Warn    func(line string)
}

// Runner is a runner.Runner, whose history may be missing, and what closes it.
type Runner struct {
	*runner.Runner
	Close func() error
}

// Env is what the program passes to backends.
type Env struct {
	Home    string   // TORCHX_HOME, absolute
	Exe     string   // path of this program, for the agent
	Version string   // of this program
	Offline bool     // the user forbids the network
	Environ []string // of the command, "K=V"; nil: that of this process
	// Settings returns the options by which a backend connects to an app, or for "" to all
	// apps: those with which the app was submitted, otherwise those of files and command
	// line. nil: no options.
	Settings func(ctx context.Context, backendName, id string) (backend.Config, error)
	// Positions returns the store of positions in remote logs. It is nil, or returns nil,
	// without a history.
	Positions func(ctx context.Context) history.Positions
	// Warn receives warnings, one line each; nil drops them.
	Warn func(line string)
	// Offering opens the first backend for which offers returns true; nil if there is none.
	Offering func(offers func(backend.Backend) bool) (backend.Backend, error)
	// Backend opens another backend, for one whose apps run others.
	Backend func(name string) (backend.Backend, error)
}

// Register adds the backend to a registry, which opens it on first use.
func (d Driver) Register(r *backend.Registry, e Env) {
	r.Add(d.Name, func() (backend.Backend, error) { return d.Open(e) })
	if d.Pending != nil {
		r.SetIdle(d.Name, func(all bool) bool { return d.isIdle(e.Home, all) })
	}
	for name, defaults := range d.Aliases {
		r.AddAlias(name, backend.Alias{Backend: d.Name, Defaults: defaults})
	}
}

// isIdle reports whether the folders of pending apps are empty and, if all is set, there are no
// bundles.
func (d Driver) isIdle(home string, all bool) bool {
	for _, name := range d.Pending {
		entries, err := agent.LiveEntries(filepath.Join(home, name))
		if err != nil || len(entries) > 0 {
			return false // the backend reports the error
		}
	}
	if !all {
		return true
	}
	bundles, err := agent.List(home)
	return err == nil && len(bundles) == 0
}

// OwnsBundle returns the OwnsDir of a backend whose apps are bundles.
func OwnsBundle(backendName string) func(dir string) bool {
	return func(dir string) bool {
		m, err := agent.Bundle{Dir: dir}.Manifest()
		return err == nil && m.Backend == backendName
	}
}
