package agent

import (
	"time"

	"github.com/fsnotify/fsnotify"

	"torchx/runtime/spec"
)

const (
	// frontTick is how often the front of the queue looks where nothing tells of a
	// change: an agent that was killed writes nothing any more.
	frontTick = time.Second
	// backTick is the same for those further back.
	backTick = 2 * time.Second
	// watchedEntries is how many apps at the front watch for changes. The system has
	// some 128 watchers for all programs of a user.
	watchedEntries = 8
	// settleTime joins changes that come together.
	settleTime = 5 * time.Millisecond
)

// requestAdmission starts all replicas as soon as the app is admitted.
func (a *agent) requestAdmission() {
	if !a.manifest.needsAdmission() {
		a.perform(a.policy.startAll())
		return
	}
	ad, err := newAdmission(a.bundle, a.manifest, a.config, a.log)
	if err != nil {
		a.refuseStart(err)
		return
	}
	a.admission = ad
	v, err := ad.decideOnce(true)
	if err != nil {
		a.leaveQueue()
		a.refuseStart(err)
		return
	}
	a.applyVerdict(v)
	if v.allocation == nil {
		go a.awaitAdmission(ad)
	}
}

// applyVerdict acts on an answer.
func (a *agent) applyVerdict(v verdict) {
	a.dirty = a.dirty || a.policy.queueReason != v.waitReason
	a.policy.queueReason = v.waitReason
	if v.allocation != nil {
		a.policy.assignDevices(v.allocation)
		a.dirty = true
		a.perform(a.policy.startAll())
	}
}

// leaveQueue gives the app's place up; what it has ends with its mark.
func (a *agent) leaveQueue() {
	if a.admission == nil {
		return
	}
	a.admission.withdrawn.Store(true)
	if a.manifest.Queue {
		a.bundle.dequeue()
	}
}

// settleAdmission is for an app whose agent died: its place in the queue is free, and
// its status says what it had.
func (b Bundle) settleAdmission(m *Manifest, s *spec.Status) {
	if !m.needsAdmission() {
		return
	}
	allocated, _ := b.allocation() // a damaged one: then nothing is said about it
	if m.Queue {
		b.dequeue()
		if allocated == nil && s.State == spec.Failed && s.StartedAt == nil {
			s.Msg = "agent died while the app was queued: its process was killed or the machine went down; nothing was started"
		}
	}
	if allocated == nil {
		return
	}
	for _, d := range allocated.Devices {
		if r := s.Replica(spec.Replica{Role: d.Role, ID: d.Replica}); r != nil {
			r.Devices = d.Devices
		}
	}
}

// awaitAdmission tries again at each change until the app is admitted or has ended.
func (a *agent) awaitAdmission(ad *admission) {
	w := newQueueWatch(ad.bundle.home())
	defer w.close()
	for !ad.withdrawn.Load() {
		v, err := ad.decideOnce(false)
		if err != nil && !ad.withdrawn.Load() {
			a.log.Print(err)
			v = verdict{waitReason: queuedPrefix + "waits, since it cannot be seen whether there is room: " + err.Error()}
		}
		a.post(func() { a.applyVerdict(v) })
		if v.allocation != nil || !w.changed(ad.position < watchedEntries, a.closed) {
			return
		}
	}
}

// queueWatch tells when it is worth to try again.
type queueWatch struct {
	home    string
	watcher *fsnotify.Watcher // nil: not at the front, or the system has none left
}

func newQueueWatch(home string) *queueWatch { return &queueWatch{home: home} }

// changed waits; it reports false when the app has ended. At the front it wakes up
// when apps come and go, elsewhere now and then.
func (w *queueWatch) changed(front bool, closed <-chan struct{}) bool {
	interval := backTick
	if front {
		interval = frontTick
		if w.watcher == nil && w.begin() {
			return true // earlier changes gave no event
		}
	}
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.watcher != nil {
		events, errs = w.watcher.Events, w.watcher.Errors
	}
	tick := time.NewTimer(interval)
	defer tick.Stop()
	select {
	case <-closed:
		return false
	case <-tick.C:
	case _, open := <-errs: // events were lost
		if !open {
			w.watcher = nil // then the clock alone has to do
		}
	case <-events:
		w.settle(events)
	}
	return true
}

// settle takes what comes together with an event.
func (w *queueWatch) settle(events <-chan fsnotify.Event) {
	done := time.After(settleTime)
	for {
		select {
		case <-events:
		case <-done:
			return
		}
	}
}

func (w *queueWatch) begin() bool {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	for _, dir := range []string{queueDir(w.home), liveDir(w.home)} {
		if n.Add(dir) != nil {
			closeWatcher(n)
			return false
		}
	}
	w.watcher = n
	return true
}

func (w *queueWatch) close() {
	if w.watcher != nil {
		closeWatcher(w.watcher)
	}
}

// closeWatcher closes a watcher and drains its channels, since it waits until its events
// are received.
func closeWatcher(n *fsnotify.Watcher) {
	go func() {
		for range n.Errors {
		}
	}()
	go func() {
		for range n.Events {
		}
	}()
	n.Close()
}
