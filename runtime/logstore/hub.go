package logstore

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pace is how long a hub lets pass between two changes of one file. Meanwhile the
// system joins those that come: a replica that writes thousands of short lines would
// else wake each follower up thousands of times, and wait for the processor itself.
const pace = 2 * time.Millisecond

// Hub tells readers that files changed. Many readers share one: the system
// allows few watchers (128 inotify instances per user), but many watched files.
type Hub struct {
	// change is held around calls of the watcher, which may block until its events
	// are taken; mu never is, so that they are.
	change  sync.Mutex
	watcher *fsnotify.Watcher // nil until the first watch
	closed  bool

	mu      sync.Mutex
	watches map[string]map[chan struct{}]struct{}
}

// NewHub returns a hub that holds nothing until something is watched.
func NewHub() *Hub {
	return &Hub{watches: map[string]map[chan struct{}]struct{}{}}
}

// watch sends to c, which must have room for one, when the file or something
// in the folder changes. False: it cannot be watched.
func (h *Hub) watch(path string, c chan struct{}) bool {
	h.change.Lock()
	defer h.change.Unlock()
	if h.closed || !h.begin() {
		return false
	}
	if h.addListener(path, c) && h.watcher.Add(path) != nil {
		h.removeListener(path, c)
		return false
	}
	return true
}

// addListener notes a listener and reports whether it is the first of its path.
func (h *Hub) addListener(path string, c chan struct{}) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first = h.watches[path] == nil
	if first {
		h.watches[path] = map[chan struct{}]struct{}{}
	}
	h.watches[path][c] = struct{}{}
	return first
}

// removeListener forgets a listener and reports whether it was the last of its path.
func (h *Hub) removeListener(path string, c chan struct{}) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	cs := h.watches[path]
	delete(cs, c)
	last = cs != nil && len(cs) == 0
	if last {
		delete(h.watches, path)
	}
	return last
}

// begin makes the watcher.
func (h *Hub) begin() bool {
	if h.watcher != nil {
		return true
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	h.watcher = w
	go h.run(w)
	return true
}

func (h *Hub) run(w *fsnotify.Watcher) {
	windowStart, notified := time.Now(), map[string]bool{} // what was told since
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if notified[e.Name] {
				time.Sleep(pace - time.Since(windowStart))
			}
			if now := time.Now(); now.Sub(windowStart) >= pace {
				windowStart = now
				clear(notified)
			}
			notified[e.Name] = true
			h.notify(e.Name)
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			h.notifyAll() // events were lost
		}
	}
}

func (h *Hub) notify(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range []string{name, filepath.Dir(name)} {
		for c := range h.watches[path] {
			wake(c)
		}
	}
}

func (h *Hub) notifyAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, cs := range h.watches {
		for c := range cs {
			wake(c)
		}
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// unwatch ends a watch.
func (h *Hub) unwatch(path string, c chan struct{}) {
	h.change.Lock()
	defer h.change.Unlock()
	if h.removeListener(path, c) && h.watcher != nil {
		_ = h.watcher.Remove(path) // it may be deleted, which ended the watch
	}
}

// Close ends all watches; readers go on by looking from time to time.
func (h *Hub) Close() error {
	h.change.Lock()
	defer h.change.Unlock()
	h.closed = true
	if h.watcher == nil {
		return nil
	}
	err := h.watcher.Close()
	h.watcher = nil
	return err
}
