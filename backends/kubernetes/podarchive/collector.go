package podarchive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

const (
	// lockEvery is the interval of attempts to take a lock of another process.
	lockEvery = 200 * time.Millisecond
	// otherWait bounds the wait for lines that another process copies: unless it has just
	// begun, its copy is nearly up to date.
	otherWait = 3 * time.Second
)

// collector copies the logs of one replica.
type collector struct {
	app     *App
	replica spec.Replica
	cancel  context.CancelFunc
	users   int   // guarded by app.mu
	slot    *slot // of one that follows; nil otherwise

	done  chan struct{} // closed when copying has ended
	err   error         // why the copy is incomplete; set when done is closed
	other bool          // another process copies; set at the end of once
	waits atomic.Bool   // another process holds the lock now
}

// collectOnce begins to copy the current lines of a replica's logs, until release is called.
func (a *App) collectOnce(r spec.Replica) (c *collector, release func()) {
	c = a.newCollector(r, nil)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		err := c.once(ctx)
		a.saveCursors()
		c.end(err)
	}()
	return c, func() { cancel(); <-c.done }
}

// collect begins to copy the logs of a replica as they grow, once its slot is given. All callers
// share one collector, which continues until the last one has called release; it leaves the slot.
func (a *App) collect(r spec.Replica, in *slot) (c *collector, release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c = a.collectors[r]; c != nil {
		in.leave()
	} else {
		c = a.newCollector(r, in)
		a.collectors[r] = c
		var ctx context.Context
		ctx, c.cancel = context.WithCancel(context.Background())
		go func() { c.end(c.run(ctx)) }()
	}
	c.users++
	return c, sync.OnceFunc(func() { a.leave(c) })
}

// newCollector returns a collector that follows the logs if it has a slot.
func (a *App) newCollector(r spec.Replica, in *slot) *collector {
	return &collector{app: a, replica: r, slot: in, done: make(chan struct{})}
}

func (a *App) leave(c *collector) {
	a.mu.Lock()
	c.users--
	last := c.users == 0
	if last {
		delete(a.collectors, c.replica)
	}
	a.mu.Unlock()
	if last {
		c.cancel()
		<-c.done
		a.saveCursors()
	}
}

// end records that copying has ended, with the error of run or once.
func (c *collector) end(err error) {
	if !errors.Is(err, context.Canceled) {
		c.err = err
	}
	close(c.done)
}

// isDone reports whether copying has ended.
func (c *collector) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// failure returns why the copy is incomplete, nil if it is complete or has not ended.
func (c *collector) failure() error {
	if !c.isDone() {
		return nil
	}
	return c.err
}

// run follows the logs until the app has ended and all lines are copied.
func (c *collector) run(ctx context.Context) error {
	release := c.app.watch()
	defer release()
	defer c.slot.leave()
	select {
	case <-c.slot.given:
	case <-ctx.Done():
		return ctx.Err()
	}
	lock, err := c.lock(ctx, true)
	if err != nil {
		return err
	}
	defer lock.Close()
	return c.followAll(ctx)
}

// lock takes the replica's lock. If another process holds it, lock waits, or without wait
// returns nil.
func (c *collector) lock(ctx context.Context, wait bool) (*filelock.Lock, error) {
	if err := nameRole(c.app.Dir, c.replica); err != nil {
		return nil, fmt.Errorf("create archive: %w", err)
	}
	for {
		lock, err := logcopy.TryLock(logstore.ReplicaDir(c.app.Dir, c.replica))
		if err != nil {
			return nil, err
		}
		if c.waits.Store(lock == nil); lock != nil || !wait {
			return lock, nil
		}
		if err := logcopy.Sleep(ctx, nil, lockEvery); err != nil {
			return nil, err
		}
	}
}

// followAll copies each log as soon as it exists.
func (c *collector) followAll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var jobs errgroup.Group
	begun := map[logName]bool{}
	for {
		_, changed, ended := c.app.replica(c.replica)
		names, _ := c.app.names(c.replica) // including archived logs, which may be incomplete
		for name := range names {
			if !begun[name] {
				begun[name] = true
				jobs.Go(func() error { return c.copy(ctx, name) })
			}
		}
		if ended {
			break
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), jobs.Wait())
		case <-changed:
		}
	}
	late := time.AfterFunc(endWait, cancel)
	defer late.Stop()
	err := jobs.Wait()
	c.app.mu.Lock()
	defer c.app.mu.Unlock()
	return errors.Join(err, c.app.failed)
}

// copy copies one log.
func (c *collector) copy(ctx context.Context, name logName) error {
	runs, _, ended := c.app.replica(c.replica)
	follow := c.slot != nil
	if complete(name.dir(c.app.Dir, c.replica), runs[name]) && (ended || !follow) {
		return nil // the usual case for an ended app
	}
	l, err := c.app.openLog(ctx, c.replica, name)
	if err != nil {
		return err
	}
	err = l.copy(ctx, &view{c.app, c.replica, name, !follow}, follow)
	return errors.Join(err, l.Close())
}

// once copies the current lines of all logs.
func (c *collector) once(ctx context.Context) error {
	select {
	case c.app.copying <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.app.copying }()
	lock, err := c.lock(ctx, false)
	if err == nil && lock == nil {
		lock, err = c.awaitOther(ctx)
	}
	if err != nil {
		return err
	}
	if lock == nil {
		c.other = true
		return nil
	}
	defer lock.Close()
	var jobs errgroup.Group
	names, _ := c.app.names(c.replica)
	for name := range names {
		jobs.Go(func() error { return c.copy(ctx, name) })
	}
	return jobs.Wait()
}

// names returns all logs of a replica, archived or on the cluster, and the number of
// its attempts.
func (a *App) names(r spec.Replica) (names map[logName]bool, attempts int) {
	names, attempts = archived(a.Dir, r)
	runs, _, _ := a.replica(r)
	for name := range runs {
		names[name] = true
		attempts = max(attempts, name.attempt+1)
	}
	return names, attempts
}

// awaitOther waits until another process has copied the current lines, at most otherWait:
// that process may have to wait, too. It returns the replica's lock if that process leaves it
// before, as a child of this process does that was forked while it was held.
func (c *collector) awaitOther(ctx context.Context) (*filelock.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, otherWait)
	defer cancel()
	runs, _, _ := c.app.replica(c.replica)
	known, _ := c.app.names(c.replica)
	names := slices.Collect(maps.Keys(known))
	slices.SortFunc(names, func(a, b logName) int { return len(runs[b]) - len(runs[a]) }) // first those that the cluster has
	for _, name := range names {
		copied, ok := c.copiedByOther(ctx, name, runs[name])
		for ok && ctx.Err() == nil && !copied() {
			if lock, err := c.lock(ctx, false); err != nil || lock != nil {
				return lock, err
			}
			_ = logcopy.Sleep(ctx, nil, lockEvery/10) // the loop checks ctx
		}
	}
	return nil, nil
}

// copiedByOther returns a function that reports whether the current lines of a log are copied.
// It is not ok if that is left to the other process.
func (c *collector) copiedByOther(
	ctx context.Context, name logName, runs []Run,
) (copied func() bool, ok bool) {
	if len(runs) == 0 { // its end, or a gap there, is copied when the cluster no longer has it
		return func() bool { return complete(name.dir(c.app.Dir, c.replica), nil) }, true
	}
	r := runs[len(runs)-1]
	if r.State != logcopy.Running && r.State != logcopy.Ended {
		return nil, false
	}
	body, err := (&runView{view: &view{c.app, c.replica, name, true}, run: r}).Open(ctx,
		logcopy.Options{Tail: 1})
	if err != nil {
		return nil, false
	}
	defer body.Close()
	last, err := LastTime(body)
	return func() bool { return !c.lastCopied(name).Before(last) }, err == nil
}

// lastCopied returns the time of a log's last archived line, zero if it has none.
func (c *collector) lastCopied(name logName) (last time.Time) {
	r, err := logstore.Open(logstore.Source{
		Dir:   func(int) string { return name.dir(c.app.Dir, c.replica) },
		State: func() (int, bool, error) { return 1, false, nil },
	}, backend.LogOptions{Tail: -1})
	if err != nil {
		return last
	}
	defer r.Close()
	count, _ := r.(backend.LogCounter).Count() // of a log that cannot be read, nothing is known
	return count.Last
}
