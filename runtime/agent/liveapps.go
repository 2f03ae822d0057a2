package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/history"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// liveApp is a live app of the home, as an app that requests admission sees it.
type liveApp struct {
	key        history.AppKey
	handle     string
	demand     machine.Size
	isQueued   bool
	after      bool        // it waits for other apps first
	allocation *allocation // nil: not admitted yet
}

// admitted reports whether the app uses its share of the machine.
func (p *liveApp) admitted() bool { return !p.isQueued || p.allocation != nil }

// liveAppReader reads the live apps besides one app. It caches manifests, since they never
// change.
type liveAppReader struct {
	self   Bundle
	cached map[string]cachedApp // by folder
}

type cachedApp struct {
	entry os.FileInfo // a different file means a different app of that name
	app   liveApp
}

// read returns the live apps except the caller's, and whether dead apps are left to be
// recovered.
func (c *liveAppReader) read() (live []liveApp, dead bool, err error) {
	home := c.self.home()
	entries, err := LiveEntries(liveDir(home))
	if err != nil {
		return nil, false, fmt.Errorf("list live apps: %w", err)
	}
	known := make(map[string]cachedApp, len(entries))
	for _, e := range entries {
		b := BundleOf(home, e.Name())
		mark, err := e.Info()
		if err != nil || b == c.self {
			continue
		}
		if !b.isLive() {
			_, err := os.Lstat(b.supervisor().Entry())
			dead = dead || err == nil
			continue
		}
		n, ok := c.cached[e.Name()]
		if !ok || !os.SameFile(n.entry, mark) {
			n = cachedApp{mark, b.liveApp()}
		}
		known[e.Name()] = n
		if n.app.after && b.waitsForApps() {
			continue // it uses nothing yet, and asks for admission later
		}
		p := n.app
		if p.allocation, err = b.allocation(); err != nil {
			return nil, false, fmt.Errorf("read allocation of app %s: %w", e.Name(), err)
		}
		live = append(live, p)
	}
	c.cached = known
	return live, dead, nil
}

// liveApp reads the unchanging facts of an app. If its folder is being deleted, only its
// live entry is known.
func (b Bundle) liveApp() liveApp {
	m, err := b.Manifest()
	if err == nil {
		return liveApp{key: history.AppKey{Backend: m.Backend, ID: m.ID}, handle: m.Handle, demand: resourcesOf(m.App), isQueued: m.Queue, after: len(m.After) > 0}
	}
	h, _ := readHolder(b.supervisor().Entry()) // empty if that is unreadable as well
	p := liveApp{handle: h.Handle}
	if handle, err := spec.ParseHandle(h.Handle); err == nil {
		p.key = history.AppKey{Backend: handle.Backend, ID: handle.AppID}
	}
	return p
}

// admissionLock is the file in a home that is locked while a decision on admission is
// made.
const admissionLock = "admission.lock"

// admissionWait bounds the wait for the lock. Holders keep it for milliseconds, so a
// timeout means that one was stopped.
const admissionWait = 30 * time.Second

func lockAdmission(home string) (*filelock.Lock, error) {
	path := filepath.Join(home, admissionLock)
	lock, err := filelock.AcquireWithin(path, admissionWait)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s has been held by another agent for %v (find it with `fuser` or `lsof`)", path, admissionWait)
	}
	return lock, err
}
