package logstore

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pace is the minimum time between two notifications of one file. The system merges changes
// in between: otherwise a replica that writes thousands of short lines would wake each
// follower thousands of times, and wait for the processor itself.
const pace = 2 * time.Millisecond

// A process that ever watched a file with inotify takes 10 to 17 ms to end. For the first
// pollTime a hub therefore polls, every pollPause or, with many listeners, less often.
const (
	pollTime  = 200 * time.Millisecond
	pollPause = time.Millisecond
	pollMany  = 8 // this many listeners double the pause
	// blindPause is the pause of a hub that cannot watch.
	blindPause = 50 * time.Millisecond
)

// Hub notifies readers of changed files. Many readers share one: the system allows few
// watchers (128 inotify instances per user), but many watched files.
type Hub struct {
	// change is held during calls of the watcher, which may block until its events are
	// received. mu is not, so that they can be.
	change  sync.Mutex
	watcher *fsnotify.Watcher // nil while the hub polls
	polls   bool
	closed  chan struct{}

	mu      sync.Mutex
	watches map[string]map[chan struct{}]struct{}
}

// NewHub returns a hub that uses no resources until something is watched.
func NewHub() *Hub {
	return &Hub{closed: make(chan struct{}), watches: map[string]map[chan struct{}]struct{}{}}
}

// Watch sends to c, which must have a buffer of one, when the file or an entry of the folder
// may have changed.
func (h *Hub) Watch(path string, c chan struct{}) {
	h.change.Lock()
	defer h.change.Unlock()
	if first := h.addListener(path, c); first && h.watcher != nil && h.watcher.Add(path) != nil {
		h.poll(false)
	} else if h.watcher == nil {
		h.poll(true)
	}
}

// poll wakes all listeners periodically, permanently or until the hub can watch.
func (h *Hub) poll(thenWatch bool) {
	if h.polls {
		return
	}
	h.polls = true
	go func() {
		for started := time.Now(); thenWatch && time.Since(started) < pollTime; {
			if !h.pause(pollPause * time.Duration(1+h.notifyAll()/pollMany)) {
				return
			}
		}
		for !thenWatch || !h.begin() {
			thenWatch = false
			h.notifyAll()
			if !h.pause(blindPause) {
				return
			}
		}
		h.notifyAll() // changes before the watch started
	}()
}

// pause sleeps and reports false if the hub was closed meanwhile.
func (h *Hub) pause(d time.Duration) bool {
	select {
	case <-h.closed:
		return false
	case <-time.After(d):
		return true
	}
}

// begin starts the watcher and reports whether it watches all paths.
func (h *Hub) begin() bool {
	h.change.Lock()
	defer h.change.Unlock()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	select {
	case <-h.closed:
		return w.Close() == nil
	default:
	}
	h.watcher = w
	go h.run(w)
	h.mu.Lock()
	paths := slices.Collect(maps.Keys(h.watches))
	h.mu.Unlock()
	h.polls = slices.ContainsFunc(paths, func(path string) bool { return w.Add(path) != nil })
	return !h.polls
}

// addListener adds a listener and reports whether it is the first of its path.
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

// removeListener removes a listener and reports whether it was the last of its path.
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

func (h *Hub) run(w *fsnotify.Watcher) {
	windowStart, notified := time.Now(), map[string]bool{} // notified: files since windowStart
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

// notifyAll wakes all listeners and returns their number.
func (h *Hub) notifyAll() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, cs := range h.watches {
		n += len(cs)
		for c := range cs {
			wake(c)
		}
	}
	return n
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Unwatch removes a listener.
func (h *Hub) Unwatch(path string, c chan struct{}) {
	h.change.Lock()
	defer h.change.Unlock()
	if h.removeListener(path, c) && h.watcher != nil {
		_ = h.watcher.Remove(path) // a deleted file has ended its watch
	}
}

// Close ends all watches; readers continue by polling. Further calls do nothing.
func (h *Hub) Close() error {
	h.change.Lock()
	defer h.change.Unlock()
	select {
	case <-h.closed:
		return nil
	default:
		close(h.closed)
	}
	if h.watcher == nil {
		return nil
	}
	return h.watcher.Close()
}
