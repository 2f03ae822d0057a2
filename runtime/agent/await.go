package agent

import (
	"time"

	"github.com/fsnotify/fsnotify"

	"torchx/runtime/spec"
)

const (
	// frontTick is how often the front of the queue checks for room without an event: a
	// killed agent causes none.
	frontTick = time.Second
	// backTick is the same for apps further back.
	backTick = 2 * time.Second
	// watchedEntries is how many apps at the front watch for changes. The system allows
	// about 128 watchers per user.
	watchedEntries = 8
	// settleTime is how long changes are collected before they are acted on.
	settleTime = 5 * time.Millisecond
)

// requestAdmission starts all replicas as soon as the app is admitted.
func (a *agent) requestAdmission() {
	if !a.manifest.needsAdmission() {
		a.perform(a.policy.StartAll())
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

// applyVerdict acts on a decision.
func (a *agent) applyVerdict(v verdict) {
	a.reports.dirty = a.reports.dirty || a.policy.QueueReason != v.waitReason
	a.policy.QueueReason = v.waitReason
	if v.allocation != nil {
		assignDevices(a.policy, v.allocation)
		a.reports.dirty = true
		a.perform(a.policy.StartAll())
	}
}

// leaveQueue withdraws the app; its devices are free once its live entry is removed.
func (a *agent) leaveQueue() {
	if a.admission == nil {
		return
	}
	a.admission.withdrawn.Store(true)
	if a.manifest.Queue {
		a.bundle.dequeue()
	}
}

// settleAdmission removes an app whose agent died from the queue and adds its devices to
// the status.
func (b Bundle) settleAdmission(m *Manifest, s *spec.Status) {
	if b.waitsForApps() && s.State == spec.Failed && s.StartedAt == nil {
		s.Msg = "agent died while the app waited for others: its process was killed or the machine went down; nothing was started"
		return
	}
	if !m.needsAdmission() {
		return
	}
	allocated, _ := b.allocation() // the devices of a damaged allocation are unknown
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
			v = verdict{waitReason: spec.QueuedMark + "cannot check for room: " + err.Error()}
		}
		a.post(func() { a.applyVerdict(v) })
		if v.allocation != nil || !w.changed(ad.position < watchedEntries, a.events.closed) {
			return
		}
	}
}

// queueWatch waits until another decision is worthwhile.
type queueWatch struct {
	home    string
	watcher *fsnotify.Watcher // nil: not at the front, or the system's limit is reached
}

func newQueueWatch(home string) *queueWatch { return &queueWatch{home: home} }

// changed waits for a change and reports false when the app has ended. At the front it
// returns when apps come and go, further back after backTick.
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
			w.watcher = nil // from now on, only the ticker wakes it up
		}
	case <-events:
		w.settle(events)
	}
	return true
}

// settle drains the events that follow within settleTime.
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

// closeWatcher closes a watcher and drains its channels: Close blocks until all events
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
