package run

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quietTime is how long no file must change for a burst of changes to be over: an editor
	// replaces a file in several steps, and a checkout writes many.
	quietTime = 150 * time.Millisecond
	// maxBurst bounds a burst.
	maxBurst = 3 * time.Second
	// pollTime is the pause between two looks at the files where the system does not notify.
	pollTime = time.Second
)

// notifier tells after each burst of changes that files may have changed.
type notifier struct {
	changed chan struct{}
	watcher *fsnotify.Watcher // nil at the limit of the system
	polls   atomic.Bool       // some folders cannot be watched
	cancel  context.CancelFunc
}

func newNotifier(ctx context.Context) *notifier {
	ctx, cancel := context.WithCancel(ctx)
	n := &notifier{changed: make(chan struct{}), cancel: cancel}
	n.watcher, _ = fsnotify.NewWatcher()
	n.polls.Store(n.watcher == nil)
	go n.run(ctx)
	return n
}

func (n *notifier) close() {
	n.cancel()
	if n.watcher != nil {
		_ = n.watcher.Close()
	}
}

// watch adds the folders of a snapshot.
func (n *notifier) watch(s snapshot) {
	if n.watcher == nil {
		return
	}
	for path, state := range s {
		dir := path
		if state != folder {
			dir = filepath.Dir(path)
		}
		if err := n.watcher.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			n.polls.Store(true)
		}
	}
}

func (n *notifier) run(ctx context.Context) {
	var events chan fsnotify.Event
	var lost chan error
	if n.watcher != nil {
		events, lost = n.watcher.Events, n.watcher.Errors
	}
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		select {
		case <-events:
			settle(ctx, events)
		case _, ok := <-lost: // too many events at once
			if !ok {
				return
			}
		case <-tick.C:
			if !n.polls.Load() {
				continue
			}
		case <-ctx.Done():
			return
		}
		select {
		case n.changed <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// settle returns at the end of a burst.
func settle(ctx context.Context, events <-chan fsnotify.Event) {
	limit := time.After(maxBurst)
	for {
		select {
		case <-events:
		case <-time.After(quietTime):
			return
		case <-limit:
			return
		case <-ctx.Done():
			return
		}
	}
}
