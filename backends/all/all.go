// Package all knows every backend. It is the only place that does.
package all

import (
	"context"

	"torchx/backends/docker"
	"torchx/backends/kubernetes"
	"torchx/backends/kubernetes/archive"
	"torchx/backends/local"
	"torchx/backends/workspace"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
)

// Config is what backends need of the program.
type Config struct {
	Home    string   // TORCHX_HOME
	Exe     string   // this program, to be run as the agent
	Version string   // of this program
	Offline bool     // the user forbids the network
	Environ []string // of the command, "K=V"; nil: this process's own
	// Settings returns the options by which a backend reaches an app, or for "" all
	// of them: those the app was submitted with, else those of files and command line.
	Settings func(ctx context.Context, backendName, id string) (backend.Config, error)
	// Positions returns where cursors of archived logs are kept, nil if there is no history.
	Positions func(ctx context.Context) archive.Positions
	// Warn is told of what did not stop the work, one line each; nil drops it.
	Warn func(line string)
}

// New returns the registry; the first backend is the default one.
func New(c Config) *backend.Registry {
	r := backend.NewRegistry()
	r.Add(local.Name, func() (backend.Backend, error) {
		return local.New(local.Config{Home: c.Home, Exe: c.Exe})
	})
	r.AddAlias("local_cwd", backend.Alias{Backend: local.Name})
	r.AddAlias("local_dir", backend.Alias{Backend: local.Name, Defaults: map[string]string{"image_type": "dir"}})
	r.Add(docker.Name, func() (backend.Backend, error) {
		return docker.New(docker.Config{Home: c.Home, Exe: c.Exe, Version: c.Version, Offline: c.Offline})
	})
	r.AddAlias("local_docker", backend.Alias{Backend: docker.Name})
	r.Add(kubernetes.Name, func() (backend.Backend, error) {
		k := kubernetes.Config{Home: c.Home, Exe: c.Exe, Version: c.Version, Offline: c.Offline, Environ: c.Environ, Positions: c.Positions, Warn: c.Warn}
		k.Images = func() (workspace.Pusher, error) {
			b, err := r.Get(docker.Name)
			pusher, _ := b.(workspace.Pusher)
			return pusher, err
		}
		if c.Settings != nil {
			k.Settings = func(ctx context.Context, id string) (backend.Config, error) {
				return c.Settings(ctx, kubernetes.Name, id)
			}
		}
		return kubernetes.New(k)
	})
	return r
}

// RunAgent runs the agent of a bundle, or of an archive, and returns the process's exit code.
func RunAgent(bundle string, open func(ctx context.Context, home string) (agent.Store, error)) int {
	if archive.Is(bundle) {
		return kubernetes.RunAgent(bundle, open)
	}
	m, err := agent.Bundle{Dir: bundle}.Manifest()
	if err == nil && m.Backend == docker.Name {
		return docker.RunAgent(bundle, open)
	}
	return local.RunAgent(bundle, open)
}

// LimitedCommand is the first argument that asks for ExecLimited.
const LimitedCommand = local.LimitedCommand

// ExecLimited turns this process into a replica's program with limits of its own;
// it returns only when that fails, with the exit code.
func ExecLimited(args []string) (code int, err error) { return local.ExecLimited(args) }
