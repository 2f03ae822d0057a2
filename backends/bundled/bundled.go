// Package bundled is what backends share whose apps have an agent on this machine:
// an app is a bundle (runtime/agent) of TORCHX_HOME, and its status, logs and end
// are found there, whatever runs its replicas.
package bundled

import (
	"path/filepath"
	"strconv"
	"sync"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Config says whose apps they are.
type Config struct {
	Backend string // its name: bundles of others are left alone
	Home    string // TORCHX_HOME, absolute
	Exe     string // the program to run as `<exe> agent <bundle>`
	// Layout tells where the logs of an app are.
	Layout func(m *agent.Manifest) (Layout, error)
}

// Layout says where an app's logs are: below a folder of the user's, as TorchX
// lays them out, or in the bundle.
type Layout struct {
	Dir  string // the app's folder
	User bool   // below a folder that the user chose
}

// ReplicaDir is the folder of the streams of one attempt, from 0.
func (l Layout) ReplicaDir(r spec.Replica, attempt int) string {
	if !l.User {
		return filepath.Join(l.Dir, replicasFolder, agent.Escape(r.Role), strconv.Itoa(r.ID), strconv.Itoa(attempt))
	}
	dir := filepath.Join(l.Dir, agent.Escape(r.Role), strconv.Itoa(r.ID))
	if attempt > 0 {
		dir = filepath.Join(dir, "attempt-"+strconv.Itoa(attempt))
	}
	return dir
}

// Apps are the apps of one backend. It keeps no state but what it watches.
type Apps struct {
	Config
	backend.Observers
	hub *logstore.Hub // tells followers of changes

	mu      sync.Mutex
	watches map[string]*watch // by bundle folder
}

// New returns the apps; it touches nothing.
func New(c Config) (*Apps, error) {
	home, err := filepath.Abs(c.Home)
	if err != nil {
		return nil, err
	}
	c.Home = home
	return &Apps{Config: c, hub: logstore.NewHub(), watches: map[string]*watch{}}, nil
}

// RunsHere is true: bundles are on this machine.
func (a *Apps) RunsHere() bool { return true }

// Close ends what the client watches; apps go on.
func (a *Apps) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for dir, w := range a.watches {
		w.close()
		delete(a.watches, dir)
	}
	return a.hub.Close()
}

// Has reports whether there is a bundle of the app, and that it is this backend's:
// all backends of a home have their bundles in one folder.
func (a *Apps) Has(id string) bool {
	s, err := a.Bundle(id).Status()
	if err != nil {
		return a.Bundle(id).Exists()
	}
	return a.owns(s)
}

func (a *Apps) owns(s *spec.Status) bool {
	h, err := spec.ParseHandle(s.Handle)
	return err != nil || h.Backend == a.Backend
}

// Bundle is the folder of an app, which need not exist.
func (a *Apps) Bundle(id string) agent.Bundle { return agent.BundleAt(a.Home, id) }
