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

// liveApp is a live app of the home as one that asks for admission sees it.
type liveApp struct {
	key        history.AppKey
	handle     string
	demand     machine.Size
	isQueued   bool
	allocation *allocation // nil: it has not been given anything (yet)
}

// admitted reports whether the app has its part of the machine.
func (p *liveApp) admitted() bool { return !p.isQueued || p.allocation != nil }

// liveAppReader counts who lives beside one app. What it has read of a manifest it keeps,
// since those never change.
type liveAppReader struct {
	self   Bundle
	cached map[string]cachedApp // by folder
}

type cachedApp struct {
	entry os.FileInfo // another file: another app of that name
	app   liveApp
}

// read returns the live apps except the caller's own, and whether dead ones are left
// to be swept.
func (c *liveAppReader) read() (live []liveApp, dead bool, err error) {
	home := c.self.home()
	entries, err := LiveEntries(liveDir(home))
	if err != nil {
		return nil, false, fmt.Errorf("look for live apps: %w", err)
	}
	known := make(map[string]cachedApp, len(entries))
	for _, e := range entries {
		b := BundleOf(home, e.Name())
		mark, err := e.Info()
		if err != nil || b == c.self {
			continue
		}
		if !b.isLive() {
			_, err := os.Lstat(b.life().Entry())
			dead = dead || err == nil
			continue
		}
		n, ok := c.cached[e.Name()]
		if !ok || !os.SameFile(n.entry, mark) {
			n = cachedApp{mark, b.liveApp()}
		}
		known[e.Name()] = n
		p := n.app
		if p.allocation, err = b.allocation(); err != nil {
			return nil, false, fmt.Errorf("see what app %s has: %w", e.Name(), err)
		}
		live = append(live, p)
	}
	c.cached = known
	return live, dead, nil
}

// liveApp reads what does not change of an app. One whose folder is being deleted is
// known by its mark only.
func (b Bundle) liveApp() liveApp {
	m, err := b.Manifest()
	if err == nil {
		return liveApp{key: history.AppKey{Backend: m.Backend, ID: m.ID}, handle: m.Handle, demand: resourcesOf(m.App), isQueued: m.Queue}
	}
	h, _ := readHolder(b.life().Entry()) // empty if that is unreadable as well
	p := liveApp{handle: h.Handle}
	if handle, err := spec.ParseHandle(h.Handle); err == nil {
		p.key = history.AppKey{Backend: handle.Backend, ID: handle.AppID}
	}
	return p
}

// admissionLock is the file in a home whose lock is held while it is decided who
// may start with what.
const admissionLock = "admission.lock"

// admissionWait bounds the wait for the lock: each holder has it for milliseconds,
// so one of them was stopped.
const admissionWait = 30 * time.Second

func lockAdmission(home string) (*filelock.Lock, error) {
	path := filepath.Join(home, admissionLock)
	lock, err := filelock.AcquireWithin(path, admissionWait)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s is held by another agent for %v: find it with `fuser` or `lsof`", path, admissionWait)
	}
	return lock, err
}
