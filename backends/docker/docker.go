// Package docker runs apps as containers of a Docker Engine. Each app has a detached
// agent (runtime/agent), which outlives the command that submitted the app. Containers
// outlive the agent: if it dies, the next command starts a new one, which adopts them.
//
//	planner   app ──► Request (names, resources, workspaces), from JSON by Load
//	Backend   Submit: images, manifest, bundle, agent; reads bundles (backends/supervised),
//	          and finds apps of other homes by the labels of their containers (foreign.go)
//	launcher  in the agent: creates and starts containers, watches the engine's events,
//	          copies logs (logSource, backends/logcopy), saves error files
//	engine    a connection that survives restarts of the engine
package docker

import (
	"os"
	"sync"

	"github.com/docker/docker/client"

	"torchx/backends/driver"
	"torchx/backends/supervised"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
)

// Config is what the program passes to the backend.
type Config struct {
	Home    string   // TORCHX_HOME, absolute
	Exe     string   // the program to run as `<exe> agent <bundle>`
	Version string   // of the program, for the version label of containers
	Offline bool     // the user forbids the network
	Environ []string // selects the engine, "K=V"; nil: the environment of this process
}

// Backend is the docker backend. It connects to the engine on first use.
type Backend struct {
	planner
	*supervised.Apps

	mu      sync.Mutex
	engines map[endpoint]*client.Client
}

// Driver registers the backend.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    Name,
		Aliases: map[string]map[string]string{"local_docker": nil},
		Open: func(e driver.Env) (backend.Backend, error) {
			return New(Config{Home: e.Home, Exe: e.Exe, Version: e.Version, Offline: e.Offline})
		},
		Pending: supervised.Pending(), RunAgent: runAgent, OwnsDir: driver.OwnsBundle(Name),
	}
}

// New returns the backend. It does not contact the engine.
func New(c Config) (*Backend, error) {
	apps, err := supervised.New(supervised.Config{Backend: Name, Home: c.Home, Exe: c.Exe, Layout: layoutOf})
	if err != nil {
		return nil, err
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	p := planner{version: c.Version, offline: c.Offline, environ: c.Environ}
	return &Backend{planner: p, Apps: apps, engines: map[endpoint]*client.Client{}}, nil
}

// layoutOf returns the layout of an app's logs, which are in its bundle.
func layoutOf(m *agent.Manifest) (supervised.Layout, error) {
	return supervised.Layout{Dir: agent.BundleAt(m.Home, m.ID).Dir}, nil
}

// Name is "docker".
func (b *Backend) Name() string { return Name }

// Close closes connections; apps keep running.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, engine := range b.engines {
		engine.Close()
	}
	clear(b.engines)
	return b.Apps.Close()
}
