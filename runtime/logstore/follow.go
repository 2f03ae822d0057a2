package logstore

import (
	"context"
	"path/filepath"
	"time"

	"torchx/runtime/backend"
)

const (
	// tick is how often a follower checks without a notification, in case it missed a
	// change.
	tick = 250 * time.Millisecond

	// An unfinished line is shown if nothing was added for partialRest, or after
	// partialMax: a progress bar may change all the time.
	partialRest = 100 * time.Millisecond
	partialMax  = 250 * time.Millisecond

	// untilGrace leaves time for output just before the end to reach the files.
	untilGrace = 30 * time.Millisecond
)

// follower waits for changes on behalf of a reader. Only Next calls its methods.
type follower struct {
	hub     *Hub
	ownsHub bool
	files   chan struct{} // the log has changed
	state   chan struct{} // the app's state may have changed
	watched []watched
	log     string // the watched index or folder

	stale      bool // State must be called
	nextTick   time.Time
	until      time.Time
	unfinished [2]unfinishedLine
}

type watched struct {
	path string
	c    chan struct{}
}

// unfinishedLine is how long a stream has had an unfinished line.
type unfinishedLine struct {
	pos, end    int64
	first, last time.Time
}

func newFollower(src Source, o backend.LogOptions) *follower {
	f := &follower{
		hub: src.Hub, files: make(chan struct{}, 1), state: make(chan struct{}, 1),
		stale: true, until: o.Until,
	}
	if f.hub == nil {
		f.hub, f.ownsHub = NewHub(), true
	}
	for _, path := range src.Watch {
		f.watch(path, f.state)
	}
	return f
}

func (f *follower) watch(path string, c chan struct{}) {
	path = filepath.Clean(path)
	f.hub.Watch(path, c)
	f.watched = append(f.watched, watched{path, c})
}

// watchAttempt watches an attempt's index, so that output wakes the follower once and not
// twice, or its folder until the index exists. It reports whether the watch is new.
func (f *follower) watchAttempt(a *attempt) bool {
	path := a.dir
	if a.index.file != nil {
		path = filepath.Join(a.dir, IndexFile)
	}
	if f.log == path {
		return false
	}
	f.unwatchLog()
	f.watch(path, f.files)
	f.log = path
	return true
}

func (f *follower) unwatchLog() {
	kept := f.watched[:0]
	for _, w := range f.watched {
		if w.c == f.files {
			f.hub.Unwatch(w.path, w.c)
		} else {
			kept = append(kept, w)
		}
	}
	f.watched, f.log = kept, ""
}

// sleep waits for a change, at most until the next tick or for the time given.
func (f *follower) sleep(
	ctx context.Context, closing <-chan struct{}, maxWait time.Duration,
) error {
	now := time.Now()
	if !now.Before(f.nextTick) {
		f.stale = f.stale || !f.nextTick.IsZero()
		f.nextTick = now.Add(tick)
	}
	timer := time.NewTimer(min(maxWait, f.nextTick.Sub(now)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-closing: // Next reports it
	case <-f.files:
	case <-f.state:
		f.stale = true
	case <-timer.C:
		f.stale = f.stale || !time.Now().Before(f.nextTick)
	}
	return nil
}

// untilDue returns the time left before Until; ok is false if Until is not set.
func (f *follower) untilDue() (left time.Duration, ok bool) {
	if f.until.IsZero() {
		return tick, false
	}
	return time.Until(f.until) + untilGrace, true
}

// unfinishedDue returns an unfinished line that is due to be shown, or how long to wait for one.
func (f *follower) unfinishedDue(a *attempt) (s Stream, due bool, wait time.Duration) {
	wait = tick
	now := time.Now()
	totals := a.index.totals()
	for i := range f.unfinished {
		r, end := &f.unfinished[i], totals.end[i]
		switch {
		case !a.sel.streams[i] || a.pos[i] >= end:
			*r = unfinishedLine{pos: -1}
			continue
		case r.pos != a.pos[i]:
			*r = unfinishedLine{pos: a.pos[i], end: end, first: now, last: now}
		case r.end != end:
			r.end, r.last = end, now
		}
		left := min(partialRest-now.Sub(r.last), partialMax-now.Sub(r.first))
		if left <= 0 {
			return Stream(i), true, 0
		}
		wait = min(wait, left)
	}
	return 0, false, wait
}

func (f *follower) close() {
	for _, w := range f.watched {
		f.hub.Unwatch(w.path, w.c)
	}
	f.watched = nil
	if f.ownsHub {
		_ = f.hub.Close() // errors are harmless: a hub holds no data
	}
}

// wait waits for more output of the current attempt, or for its end.
func (r *reader) wait(ctx context.Context) (backend.Block, bool, error) {
	f, none := r.follow, backend.Block{}
	if grew, err := r.cur.refresh(); grew || err != nil {
		return none, false, err
	}
	if f.watchAttempt(r.cur) {
		return none, false, nil // read again: it may have grown before the watch started
	}
	if f.stale {
		if err := r.refreshState(); err != nil {
			return none, false, err
		}
	}
	left, checkLimit := f.untilDue()
	if r.isComplete(r.number) {
		r.cur.finish()
	}
	if r.cur.atEnd = r.cur.complete || checkLimit && left <= 0; r.cur.atEnd {
		_, err := r.cur.refresh()
		return none, false, err
	}
	if r.o.Partial {
		s, due, wait := f.unfinishedDue(r.cur)
		if due {
			return r.cur.partial(s)
		}
		left = min(left, wait)
	}
	return none, false, f.sleep(ctx, r.closing, min(left, tick))
}

func (r *reader) refreshState() (err error) {
	r.follow.stale = false
	r.attempts, r.done, err = r.src.State()
	return err
}

// advance opens the next attempt, waits for it, or reaches the end.
func (r *reader) advance(ctx context.Context) error {
	if r.number < r.attempts {
		return r.openNext()
	}
	if r.follow == nil || r.done || r.pastUntil() {
		r.end = true
		return nil
	}
	if r.follow.stale {
		return r.refreshState()
	}
	left, _ := r.follow.untilDue()
	return r.follow.sleep(ctx, r.closing, min(left, tick))
}

// pastUntil reports whether a follower has passed Until.
func (r *reader) pastUntil() bool {
	if r.follow == nil {
		return false
	}
	left, checkLimit := r.follow.untilDue()
	return checkLimit && left <= 0
}

// Close implements io.Closer; a waiting Next returns. Further calls do nothing.
func (r *reader) Close() error {
	r.closeOnce.Do(func() {
		close(r.closing)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.cur != nil {
			r.cur.close()
		}
		if r.follow != nil {
			r.follow.close()
		}
	})
	return nil
}
