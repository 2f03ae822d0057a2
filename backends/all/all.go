// Package all lists the backends of the program. No other package does.
package all

import (
	"torchx/backends/docker"
	"torchx/backends/driver"
	"torchx/backends/imported"
	"torchx/backends/kubernetes"
	"torchx/backends/local"
	"torchx/backends/slurm"
	"torchx/backends/sweep"
	"torchx/runtime/backend"
)

// drivers returns the backends; the first one is the default.
func drivers() []driver.Driver {
	return []driver.Driver{
		local.Driver(),
		docker.Driver(),
		kubernetes.Driver(),
		slurm.Driver(),
		sweep.Driver(),
		imported.Driver(),
	}
}

// New returns the registry of all backends, without opening any.
func New(e driver.Env) *backend.Registry {
	r := backend.NewRegistry()
	e.Offering = func(offers func(backend.Backend) bool) (found backend.Backend, err error) {
		for _, d := range drivers() {
			var b backend.Backend
			if b, err = r.Get(d.Name); err == nil && offers(b) {
				return b, nil
			}
		}
		return nil, err
	}
	e.Backend = r.Get
	for _, d := range drivers() {
		d.Register(r, e)
	}
	return r
}

// RunAgent runs the supervisor of the app in dir and returns its exit code. If no backend
// owns the folder, the default one reports the error.
func RunAgent(dir string, p driver.Program) int {
	all := drivers()
	for _, d := range all {
		if d.RunAgent != nil && d.OwnsDir(dir) {
			return d.RunAgent(dir, p)
		}
	}
	return all[0].RunAgent(dir, p)
}

// Command returns the internal command of a backend with this name, nil if there is none.
func Command(name string) func(args []string) (code int, err error) {
	for _, d := range drivers() {
		if run := d.Commands[name]; run != nil {
			return run
		}
	}
	return nil
}
