// Package supervised implements what backends with an agent on this machine share: an app is
// a bundle (runtime/agent) in TORCHX_HOME, which has its status and logs, whatever runs
// its replicas.
//
//	Apps    submits, lists, describes, cancels and deletes apps, opens their logs
//	Layout  the paths of an app's logs: in the bundle or below the user's log_dir
//	watch   shares changes of one bundle among all readers
package supervised

import (
	"path/filepath"
	"strconv"
	"sync"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Config describes a backend whose apps are bundles.
type Config struct {
	Backend string // its name; bundles of other backends are ignored
	Home    string // TORCHX_HOME, absolute
	Exe     string // the program to run as `<exe> agent <bundle>`
	// Layout returns the paths of an app's logs.
	Layout func(m *agent.Manifest) (Layout, error)
}

// Layout is the layout of an app's logs: in the bundle, or as in TorchX below a folder
// that the user chose.
type Layout struct {
	Dir  string // the app's folder
	User bool   // Dir is below a folder that the user chose
}

// ReplicaDir returns the folder of one attempt's streams. Attempts count from 0.
func (l Layout) ReplicaDir(r spec.Replica, attempt int) string {
	if !l.User {
		return logstore.AttemptDir(l.Dir, r, attempt)
	}
	dir := filepath.Join(l.Dir, safefile.Escape(r.Role), strconv.Itoa(r.ID))
	if attempt > 0 {
		dir = filepath.Join(dir, "attempt-"+strconv.Itoa(attempt))
	}
	return dir
}

// Apps are the apps of one backend. Their state is in the bundles.
type Apps struct {
	Config
	backend.Observers
	hub *logstore.Hub // notifies followers of changes

	mu      sync.Mutex
	watches map[string]*watch              // by bundle folder
	early   map[string]<-chan *agent.Early // by app ID
}

// Terminals connects to the terminals of apps, for the backends that have some.
type Terminals struct{ *Apps }

// New returns the apps. It accesses no files.
func New(c Config) (*Apps, error) {
	home, err := filepath.Abs(c.Home)
	if err != nil {
		return nil, err
	}
	c.Home = home
	return &Apps{Config: c, hub: logstore.NewHub(), watches: map[string]*watch{}, early: map[string]<-chan *agent.Early{}}, nil
}

// Close ends all watches; apps keep running.
func (a *Apps) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for dir, w := range a.watches {
		w.close()
		delete(a.watches, dir)
	}
	return a.hub.Close()
}

// Has reports whether the app has a bundle of this backend. All backends of a home have
// their bundles in one folder.
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

// FolderOf returns the folder of an app's bundle.
func (a *Apps) FolderOf(id string) string { return a.Bundle(id).Dir }

// Bundle returns the bundle of an app, which need not exist.
func (a *Apps) Bundle(id string) agent.Bundle { return agent.BundleAt(a.Home, id) }
