package logstore

import (
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Hub tells readers that files changed. Many readers share one: the system
// allows few watchers (128 inotify instances per user), but many watched files.
type Hub struct {
	mu      sync.Mutex
	watcher *fsnotify.Watcher // nil until the first watch
	watches map[string]map[chan struct{}]struct{}
	closed  bool
}

// NewHub returns a hub that holds nothing until something is watched.
func NewHub() *Hub {
	return &Hub{watches: map[string]map[chan struct{}]struct{}{}}
}

// watch sends to c, which must have room for one, when the file or something
// in the folder changes. False: it cannot be watched.
func (h *Hub) watch(path string, c chan struct{}) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || !h.begin() {
		return false
	}
	if h.watches[path] == nil {
		if h.watcher.Add(path) != nil {
			return false
		}
		h.watches[path] = map[chan struct{}]struct{}{}
	}
	h.watches[path][c] = struct{}{}
	return true
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
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			h.tell(e.Name)
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			h.tellAll() // events were lost
		}
	}
}

func (h *Hub) tell(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range []string{name, filepath.Dir(name)} {
		for c := range h.watches[path] {
			wake(c)
		}
	}
}

func (h *Hub) tellAll() {
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
	h.mu.Lock()
	defer h.mu.Unlock()
	cs := h.watches[path]
	delete(cs, c)
	if cs != nil && len(cs) == 0 {
		delete(h.watches, path)
		if h.watcher != nil {
			_ = h.watcher.Remove(path) // it may be deleted, which ended the watch
		}
	}
}

// Close ends all watches; readers go on by looking from time to time.
func (h *Hub) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.watcher == nil {
		return nil
	}
	err := h.watcher.Close()
	h.watcher = nil
	return err
}
