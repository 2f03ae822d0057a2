// Package bundled is what backends share whose apps have an agent on this machine:
// an app is a bundle (runtime/agent) of TORCHX_HOME, and its status, logs and end
// are found there, whatever runs its replicas.
package bundled

import (
	"path/filepath"
	"strconv"
	"sync"

	"torchx/runtime/agent"
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

// Layout returns the folder of the log of an attempt, from 0.
type Layout func(r spec.Replica, attempt int) string

// Apps are the apps of one backend. It keeps no state but what it watches.
type Apps struct {
	Config
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

// Bundle is the folder of an app, which need not exist.
func (a *Apps) Bundle(id string) agent.Bundle { return agent.BundleAt(a.Home, id) }

// ReplicaDir is the folder of an attempt of a replica below an app's folder.
func ReplicaDir(app string, r spec.Replica, attempt int) string {
	return filepath.Join(app, "replicas", agent.Escape(r.Role), strconv.Itoa(r.ID), strconv.Itoa(attempt))
}
