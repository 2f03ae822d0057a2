package supervised

import (
	"os"
	"sync"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// checkInterval is how often a status is read without an event, because a killed agent
// writes nothing.
const checkInterval = 500 * time.Millisecond

// watch notifies all readers of one bundle when its status changes.
type watch struct {
	id     string
	bundle agent.Bundle
	apps   *Apps
	stop   chan struct{}

	mu         sync.Mutex
	signal     chan struct{} // closed at the next change
	status     *spec.Status
	statusInfo os.FileInfo // of the file that status was read from
	checkedAt  time.Time   // last check that the agent is alive
	looping    bool        // loop runs
	closed     bool
	logs       *Layout // nil until first use
}

// watch returns the watch of an app's bundle, which it creates on first use.
func (a *Apps) watch(id string) *watch {
	bundle := a.Bundle(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.watches[bundle.Dir]
	if w == nil {
		w = &watch{id: id, bundle: bundle, apps: a, stop: make(chan struct{}), signal: make(chan struct{})}
		a.watches[bundle.Dir] = w
	}
	return w
}

func (a *Apps) unwatch(bundle agent.Bundle) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.watches[bundle.Dir]; w != nil {
		w.close()
		delete(a.watches, bundle.Dir)
	}
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.stop)
	}
}

// changed returns a channel that is closed when the status may have changed.
func (w *watch) changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.looping {
		w.looping = true
		go w.loop()
	}
	return w.signal
}

func (w *watch) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.signal)
	w.signal = make(chan struct{})
}

// loop wakes the readers at each change of the bundle, and every checkInterval.
func (w *watch) loop() {
	changed := make(chan struct{}, 1)
	w.apps.hub.Watch(w.bundle.Dir, changed)
	defer w.apps.hub.Unwatch(w.bundle.Dir, changed)
	w.wake() // the bundle may have changed before Watch
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			w.wake() // readers check once more
			return
		case <-changed:
			w.wake()
		case <-tick.C:
			w.wake()
		}
	}
}

// attempts returns how many attempts of a replica have started and whether the app has
// ended. All readers share one read of the status.
func (w *watch) attempts(r spec.Replica) (count int, done bool, err error) {
	s, err := w.current()
	if err != nil {
		return 0, true, err
	}
	rs := s.Replica(r)
	if rs == nil {
		return 0, true, nil
	}
	return startedAttempts(rs), s.State.Terminal(), nil
}

// layout returns the layout of the app's logs. It is read once, because it never changes
// and an app may have a thousand replicas.
func (w *watch) layout() (Layout, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.logs != nil {
		return *w.logs, nil
	}
	l, err := w.apps.readLayout(w.bundle)
	if err != nil {
		return Layout{}, err
	}
	w.logs = &l
	return l, nil
}

func (w *watch) current() (*spec.Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := os.Stat(w.bundle.StatusPath())
	fresh := err == nil && w.statusInfo != nil && os.SameFile(info, w.statusInfo) &&
		info.Size() == w.statusInfo.Size() && info.ModTime().Equal(w.statusInfo.ModTime())
	if fresh && (w.status.State.Terminal() || time.Since(w.checkedAt) < checkInterval/2) {
		return w.status, nil
	}
	w.bundle.Resume()
	s, err := w.bundle.Recover(w.apps.Exe)
	if err != nil {
		return nil, err
	}
	w.status, w.statusInfo, w.checkedAt = s, info, time.Now()
	w.apps.Notify(w.id, s)
	return s, nil
}
