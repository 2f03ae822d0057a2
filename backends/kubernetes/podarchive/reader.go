package podarchive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// listEvery is the minimum interval between searches for attempts that another process
// archived: followers call state often.
const listEvery = 2 * time.Second

// Open reads the log of a replica: it copies the lines from the cluster, with Follow also
// future ones, and reads the copy. Errors: backend.ErrNotFound (app, replica,
// attempt, or a log that was not archived), backend.ErrUnavailable,
// backend.ErrInvalidOption.
func (a *App) Open(
	ctx context.Context, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	kept, attempts := archived(a.Dir, r)
	snap, err := a.snapshot(ctx)
	if errors.Is(err, backend.ErrNotFound) && attempts > 0 {
		return openArchived(a.Dir, r, kept, attempts, a.Hub, o)
	}
	if err != nil {
		return nil, err
	}
	_, _, ended := a.replica(r)
	names, attempts := a.names(r)
	if attempts == 0 {
		if snap.Status == nil || snap.Status.Replica(r) == nil {
			return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, a.ID,
				backend.ErrNotFound)
		}
		if ended {
			return nil, backend.Errorf(backend.ErrNotFound,
				"its pods are deleted and %s", notArchived)
		}
	}
	if o.Attempt != nil && (*o.Attempt < 0 || *o.Attempt >= attempts) &&
		(*o.Attempt > 0 || attempts > 0 || !o.Follow && !o.AllAttempts) {
		known := fmt.Sprintf("known ones are 0 to %d", attempts-1)
		switch attempts {
		case 0:
			known = "none has begun"
		case 1:
			known = "the only one is 0"
		}
		return nil, fmt.Errorf("attempt %d: %s: %w", *o.Attempt, known, backend.ErrNotFound)
	}
	if o.Attempt != nil && *o.Attempt < attempts-1 && !hasAttempt(names, *o.Attempt) {
		return nil, backend.Errorf(backend.ErrNotFound, "attempt %d: its pod is deleted and %s",
			*o.Attempt, notArchived)
	}
	if last, ok := a.lastRun(r, kept, o); ok {
		return a.openTail(r, last, o), nil
	}
	return a.copied(r, o, o.Follow && !ended), nil
}

// notArchived says of a log that nothing has it, and how to keep the next one.
const notArchived = "its log was not archived: submit with -cfg archive=true, or run `torchx wait` or `torchx log -t` before the app ends"

func hasAttempt(names map[logName]bool, attempt int) bool {
	for name := range names {
		if name.attempt == attempt {
			return true
		}
	}
	return false
}

// copied returns a reader that copies the log of a replica and reads the copy.
func (a *App) copied(r spec.Replica, o backend.LogOptions, follow bool) *reader {
	rd := &reader{app: a, replica: r, o: o}
	if follow {
		rd.slot = a.following.request()
	}
	if !follow || o.Tail >= 0 { // the last lines are known once all lines are copied
		var release func()
		rd.first, release = a.collectOnce(r)
		rd.releases = append(rd.releases, release)
	} else {
		rd.beginFollowing()
	}
	return rd
}

// reader reads what a collector copies.
type reader struct {
	app     *App
	replica spec.Replica
	o       backend.LogOptions
	slot    *slot // nil if the log is not followed

	mu       sync.Mutex
	first    *collector // of the lines at the time of Open; nil: not needed
	followed *collector // of the lines that are followed; nil: none yet
	releases []func()
	log      backend.LogReader
	reported bool // a collector's failure was returned
	closed   bool

	listing  sync.Mutex // guards the fields below: each container's log calls state
	attempts int        // in the archive
	listed   time.Time
	shown    int       // attempts that followers may read; 0 before the first call of state
	late     time.Time // since when the next one waits for the copy of the one before; zero: it does not
}

var _ backend.WaitingLog = (*reader)(nil)

// Waits implements backend.WaitingLog.
func (r *reader) Waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.followed != nil {
		return r.followed.slot.waits()
	}
	return r.slot != nil && r.slot.waits()
}

func (r *reader) beginFollowing() {
	var release func()
	r.followed, release = r.app.collect(r.replica, r.slot)
	r.releases = append(r.releases, release)
}

// Next implements backend.LogReader.
func (r *reader) Next(ctx context.Context) (backend.Block, error) {
	if err := r.await(ctx); err != nil {
		return backend.Block{}, err
	}
	log, err := r.opened()
	if err != nil {
		return backend.Block{}, err
	}
	b, err := log.Next(ctx)
	if errors.Is(err, io.EOF) && !r.reported {
		r.reported = true
		for _, c := range []*collector{r.first, r.followed} {
			if c != nil && c.failure() != nil {
				return b, c.failure()
			}
		}
	}
	return b, err
}

// await waits until the log can be opened: the first lines are copied, and the containers to
// follow are known.
func (r *reader) await(ctx context.Context) error {
	if r.log != nil {
		return nil
	}
	if r.first != nil {
		select {
		case <-r.first.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.slot == nil {
		return nil
	}
	r.mu.Lock()
	if r.followed == nil && !r.closed {
		r.beginFollowing()
	}
	c := r.followed
	r.mu.Unlock()
	for c != nil {
		runs, changed, ended := r.app.replica(r.replica)
		if len(runs) > 0 || ended {
			return nil
		}
		select {
		case <-changed:
		case <-c.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (r *reader) opened() (backend.LogReader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("read log: %w", fs.ErrClosed)
	}
	if r.log != nil {
		return r.log, nil
	}
	names, _ := r.app.names(r.replica)
	var err error
	r.log, err = openLogs(r.app.Dir, r.replica, names, r.app.Hub, r.state, r.o)
	return r.log, err
}

// state returns the number of attempts so far, and whether all lines are copied.
func (r *reader) state() (attempts int, done bool, err error) {
	runs, _, done := r.app.replica(r.replica)
	if r.slot != nil {
		done = r.followed.isDone()
	}
	r.listing.Lock()
	defer r.listing.Unlock()
	if done || time.Since(r.listed) > listEvery {
		_, r.attempts = r.app.names(r.replica)
		r.listed = time.Now()
	}
	for name := range runs {
		r.attempts = max(r.attempts, name.attempt+1)
	}
	if done || r.slot == nil {
		return r.attempts, done, nil
	}
	return r.copied(), done, nil
}

// copied returns the attempts that a follower may read. An attempt counts once the logs of the one
// before are copied, whose last lines the follower would miss otherwise, or after logPatience.
func (r *reader) copied() int {
	if r.shown == 0 {
		r.shown = max(1, r.attempts)
		if r.o.AllAttempts {
			r.shown = 1
		}
	}
	for ; r.shown < r.attempts; r.shown++ {
		if !r.app.isCopied(r.replica, r.shown-1) {
			if r.late.IsZero() {
				r.late = time.Now()
			}
			if time.Since(r.late) < r.app.logPatience {
				break
			}
		}
		r.late = time.Time{}
	}
	return min(r.shown, r.attempts)
}

// isCopied reports whether the logs of an attempt are complete, or will never begin.
func (a *App) isCopied(r spec.Replica, attempt int) bool {
	names, _ := a.names(r)
	runs, _, _ := a.replica(r)
	for name := range names {
		of := runs[name]
		never := len(of) > 0 && (of[len(of)-1].State == logcopy.Waiting || of[len(of)-1].State == logcopy.NeverStarted)
		if name.attempt == attempt && !never && !complete(name.dir(a.Dir, r), of) {
			return false
		}
	}
	return true
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	for _, release := range r.releases {
		release()
	}
	if r.slot != nil && r.followed == nil {
		r.slot.leave()
	}
	if r.log != nil {
		return r.log.Close()
	}
	return nil
}

// openArchived opens a log from the archive alone.
func openArchived(dir string, r spec.Replica, names map[logName]bool, attempts int,
	hub *logstore.Hub, o backend.LogOptions,
) (backend.LogReader, error) {
	return openLogs(dir, r, names, hub, func() (int, bool, error) { return attempts, true, nil }, o)
}

// openLogs opens the logs of all containers.
func openLogs(dir string, r spec.Replica, logs map[logName]bool, hub *logstore.Hub,
	state func() (int, bool, error), o backend.LogOptions,
) (backend.LogReader, error) {
	stream := o.Stream
	o.Stream = backend.Combined // the file has all lines
	containers := map[string]bool{"": true}
	for name := range logs {
		containers[name.container] = true
	}
	open := func(container string, o backend.LogOptions) (backend.LogReader, error) {
		return logstore.Open(logstore.Source{
			Dir:   func(attempt int) string { return logName{attempt, container}.dir(dir, r) },
			State: state, Watch: []string{logstore.ReplicaDir(dir, r)}, Hub: hub,
		}, o)
	}
	var log backend.LogReader
	var err error
	if len(containers) == 1 {
		log, err = open("", o)
	} else {
		log, err = openMerged(slices.Sorted(maps.Keys(containers)), open, o) // the main one is the first
	}
	if err != nil {
		return nil, err
	}
	return streamReader{log, cmp.Or(stream, backend.Combined)}, nil
}

// streamReader sets the stream of blocks: one stream, or both if the cluster does not
// separate them.
type streamReader struct {
	backend.LogReader
	stream backend.Stream
}

// Next implements backend.LogReader.
func (m streamReader) Next(ctx context.Context) (backend.Block, error) {
	b, err := m.LogReader.Next(ctx)
	if b.Stream != "" {
		b.Stream = m.stream
	}
	return b, err
}
