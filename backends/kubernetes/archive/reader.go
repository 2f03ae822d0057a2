package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Open reads the log of a replica: it copies what the cluster has, or, following,
// what it gets, and reads the copy. Errors: backends.ErrNotFound (app, replica,
// attempt, or a log that nobody archived), backends.ErrUnavailable,
// backends.ErrInvalidOption.
func (a *App) Open(ctx context.Context, r spec.Replica, o backend.LogOptions) (backend.LogReader, error) {
	_, kept := archived(a.Dir, r)
	snap, err := a.look(ctx)
	if errors.Is(err, backend.ErrNotFound) && kept > 0 {
		return openArchived(a.Dir, r, kept, a.Hub, o)
	}
	if err != nil {
		return nil, err
	}
	runs, _, over := a.of(r)
	attempts := max(kept, attemptsOf(runs))
	if attempts == 0 {
		if snap.Status == nil || snap.Status.Replica(r) == nil {
			return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, a.ID, backend.ErrNotFound)
		}
		if over {
			return nil, backend.Errorf(backend.ErrNotFound, "it has no pod any more, and its log was not archived: -cfg archive=true does that, and so do `torchx wait` and `torchx log -t` while it runs")
		}
	}
	if o.Attempt != nil && (*o.Attempt < 0 || *o.Attempt >= attempts) && (*o.Attempt > 0 || attempts > 0 || !o.Follow && !o.AllAttempts) {
		return nil, fmt.Errorf("attempt %d: %s: %w", *o.Attempt, known(attempts), backend.ErrNotFound)
	}
	return a.open(r, o, over), nil
}

// known says which attempts there are.
func known(attempts int) string {
	switch attempts {
	case 0:
		return "none has begun"
	case 1:
		return "the only one is 0"
	}
	return fmt.Sprintf("known ones are 0 to %d", attempts-1)
}

func attemptsOf(runs map[logName][]Run) (n int) {
	for name := range runs {
		n = max(n, name.attempt+1)
	}
	return n
}

func (a *App) open(r spec.Replica, o backend.LogOptions, over bool) *reader {
	rd := &reader{app: a, replica: r, o: o, follow: o.Follow && !over}
	if !rd.follow || o.Tail >= 0 { // which lines are the last is known when all are there
		rd.first, rd.releaseFirst = a.collect(r, false)
	} else {
		rd.collector, rd.release = a.collect(r, true)
	}
	return rd
}

// reader reads what a collector copies.
type reader struct {
	app     *App
	replica spec.Replica
	o       backend.LogOptions
	follow  bool

	mu           sync.Mutex
	first        *collector // of what was there at first; nil: it is not waited for
	collector    *collector // of what is followed; nil: nothing is (yet)
	releaseFirst func()
	release      func()
	log          backend.LogReader
	told         bool
	closed       bool

	listing sync.Mutex // the logs of several containers ask for the state, each by itself
	kept    int        // attempts in the archive
	listed  time.Time
}

// Next implements backends.LogReader.
func (r *reader) Next(ctx context.Context) (backend.Block, error) {
	if err := r.await(ctx); err != nil {
		return backend.Block{}, err
	}
	log, err := r.opened()
	if err != nil {
		return backend.Block{}, err
	}
	b, err := log.Next(ctx)
	if errors.Is(err, io.EOF) {
		if failure := r.failure(); failure != nil {
			return b, failure
		}
	}
	return b, err
}

// await waits until the log can be opened: what was there is copied, and of what is
// followed it is known which containers there are.
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
	if !r.follow {
		return nil
	}
	r.mu.Lock()
	if r.collector == nil && !r.closed {
		r.collector, r.release = r.app.collect(r.replica, true)
	}
	c := r.collector
	r.mu.Unlock()
	for c != nil {
		runs, changed, over := r.app.of(r.replica)
		if len(runs) > 0 || over {
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

// failure is why the log that was read is not all, told once.
func (r *reader) failure() error {
	if r.told {
		return nil
	}
	r.told = true
	for _, c := range []*collector{r.first, r.collector} {
		if c != nil && c.failure() != nil {
			return c.failure()
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
	var err error
	r.log, err = openLogs(r.app.Dir, r.replica, r.others(), r.app.Hub, r.state, r.o)
	return r.log, err
}

// state tells how many attempts have begun, and whether all is copied.
func (r *reader) state() (attempts int, done bool, err error) {
	done = r.over()
	r.listing.Lock()
	defer r.listing.Unlock()
	if done || time.Since(r.listed) > listEvery {
		_, r.kept = archived(r.app.Dir, r.replica)
		r.listed = time.Now()
	}
	runs, _, _ := r.app.of(r.replica)
	return max(r.kept, attemptsOf(runs)), done, nil
}

// listEvery is how often it is looked whether another process archived an attempt that
// this one did not see: followers ask for the state often.
const listEvery = 2 * time.Second

func (r *reader) over() bool {
	if r.follow {
		select {
		case <-r.collector.done:
			return true
		default:
			return false
		}
	}
	_, _, over := r.app.of(r.replica)
	return over
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	for _, release := range []func(){r.releaseFirst, r.release} {
		if release != nil {
			release()
		}
	}
	if r.log != nil {
		return r.log.Close()
	}
	return nil
}

// openArchived reads what is archived only.
func openArchived(dir string, r spec.Replica, attempts int, hub *logstore.Hub, o backend.LogOptions) (backend.LogReader, error) {
	var others []string
	for attempt := range attempts {
		others = append(others, containers(dir, r, attempt)...)
	}
	return openLogs(dir, r, others, hub, func() (int, bool, error) { return attempts, true, nil }, o)
}

// others are the containers beside the main one.
func (r *reader) others() (names []string) {
	runs, _, _ := r.app.of(r.replica)
	for name := range runs {
		names = append(names, name.container)
	}
	kept, _ := archived(r.app.Dir, r.replica)
	for _, name := range kept {
		names = append(names, name.container)
	}
	return names
}

// openLogs opens the log of the main container, together with those of the others
// if there are any.
func openLogs(dir string, r spec.Replica, others []string, hub *logstore.Hub, state func() (int, bool, error), o backend.LogOptions) (backend.LogReader, error) {
	stream := o.Stream
	o.Stream = backend.Combined              // of its files: all is in one
	names := append([]string{""}, others...) // the main one comes first
	slices.Sort(names)
	names = slices.Compact(names)
	open := func(container string, o backend.LogOptions) (backend.LogReader, error) {
		return logstore.Open(logstore.Source{
			Dir:   func(attempt int) string { return logName{attempt, container}.dir(replicaDir(dir, r)) },
			State: state, Watch: []string{replicaDir(dir, r)}, Hub: hub,
		}, o)
	}
	var log backend.LogReader
	var err error
	if len(names) == 1 {
		log, err = open("", o)
	} else {
		log, err = openMerged(names, open, o)
	}
	if err != nil {
		return nil, err
	}
	return marked{log, cmp.Or(stream, backend.Combined)}, nil
}

// marked is a log whose lines are of one stream, or of both where the cluster does not
// tell which.
type marked struct {
	backend.LogReader
	stream backend.Stream
}

// Next implements backends.LogReader.
func (m marked) Next(ctx context.Context) (backend.Block, error) {
	b, err := m.LogReader.Next(ctx)
	if b.Stream != "" {
		b.Stream = m.stream
	}
	return b, err
}
