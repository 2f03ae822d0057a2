package podarchive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

const (
	// SnapshotTime is how long a snapshot of the cluster is reused, or snapshotFactor times the
	// time that it took: the logs of a thousand replicas are opened one after the other.
	SnapshotTime   = 2 * time.Second
	snapshotFactor = 5
	// patience is how long a cluster may be unreachable while logs are read without following,
	// nodePatience a node, and logPatience how long a log may fail by other reasons: the other logs
	// must not wait long for it.
	patience     = time.Minute
	nodePatience = 5 * time.Second
	logPatience  = 15 * time.Second
	// endWait bounds the wait for containers that still run after their app has ended: the
	// grace period of a stopped pod is 30 s by default.
	endWait = 40 * time.Second
	// parallel bounds the logs that are copied concurrently without following, and the logs
	// that are opened concurrently.
	parallel = 32
)

// Config configures an App.
type Config struct {
	Backend   string // name, for the history
	ID        string
	Dir       string
	Stream    backend.Stream // that Cluster sends; "" is both, Combined
	Cluster   Cluster
	Positions func(ctx context.Context) Positions // of the history; may be nil or return nil
	Hub       *logstore.Hub
	// Pushed says that the caller passes each snapshot to See. The App then does not watch the
	// cluster.
	Pushed bool
	// SnapshotTime is how long a snapshot is reused; 0: SnapshotTime.
	SnapshotTime time.Duration
	// Warn receives non-fatal problems, one line each; nil drops them.
	Warn func(line string)
}

// App is the archive of one app. It may be used by several goroutines.
type App struct {
	Config
	observation

	outages     outages // of logs that are read without following
	logPatience time.Duration
	roundPause  time.Duration
	opening     chan struct{} // limits logs that are being opened
	copying     chan struct{} // limits replicas that are copied without following
	following   slots         // of replicas that are followed
	collectors  map[spec.Replica]*collector
	cursors     map[string]string // not stored in the history yet
}

// observation is the last known state of an app on its cluster.
type observation struct {
	reading sync.Mutex // held while the cluster is read

	mu       sync.Mutex // guards the fields below
	snap     *Snapshot
	seen     time.Time // when snap was taken
	ended    bool      // snap is from after the app's end
	failed   error     // of the watch
	runs     map[spec.Replica]map[logName][]Run
	changed  map[spec.Replica]chan struct{}
	followed map[spec.Replica]bool // a stream of the replica was opened to follow it
	watchers int
	stop     context.CancelFunc // ends the watch
}

// New returns the archive of an app. It opens no files.
func New(c Config) *App {
	c.SnapshotTime = cmp.Or(c.SnapshotTime, SnapshotTime)
	return &App{
		Config: c, observation: observation{changed: map[spec.Replica]chan struct{}{}, followed: map[spec.Replica]bool{}},
		outages: outages{server: patience, node: nodePatience, now: map[string]outage{}}, logPatience: logPatience, roundPause: roundPause, opening: make(chan struct{}, parallel), copying: make(chan struct{}, parallel), following: slots{free: followLimit()},
		collectors: map[spec.Replica]*collector{}, cursors: map[string]string{},
	}
}

// snapshot returns a snapshot of the cluster with its runs. Errors also: Hidden of the snapshot.
func (a *App) snapshot(ctx context.Context) (*Snapshot, error) {
	snap, err := a.read(ctx)
	if err == nil {
		err = snap.Hidden
	}
	return snap, err
}

// read returns a snapshot of the cluster, which may have been read for another log just before.
func (a *App) read(ctx context.Context) (*Snapshot, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	a.mu.Lock()
	snap, age, watched := a.snap, time.Since(a.seen), a.watchers > 0
	a.mu.Unlock()
	if snap != nil && (watched || age < max(a.SnapshotTime, snapshotFactor*snap.Took)) {
		return snap, nil
	}
	snap, err := a.Cluster.Snapshot(ctx)
	if err == nil {
		a.See(snap)
	}
	return snap, err
}

// See stores a new snapshot, and wakes the waiters of changed replicas.
func (o *observation) See(s *Snapshot) {
	runs := map[spec.Replica]map[logName][]Run{}
	for _, r := range s.Runs {
		if runs[r.Replica] == nil {
			runs[r.Replica] = map[logName][]Run{}
		}
		name := logName{r.Attempt, r.Container}
		runs[r.Replica][name] = append(runs[r.Replica][name], r)
	}
	for _, of := range runs {
		for _, list := range of {
			slices.SortFunc(list, func(x, y Run) int { return x.compare(&y) })
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ended := s.Status != nil && s.Status.State.Terminal()
	o.wake(func(r spec.Replica) bool {
		return ended != o.ended || !maps.EqualFunc(o.runs[r], runs[r], slices.Equal[[]Run])
	})
	o.snap, o.seen, o.runs, o.ended = s, time.Now(), runs, ended
}

// wake wakes the waiters of changed replicas; the caller holds mu.
func (o *observation) wake(changed func(spec.Replica) bool) {
	for r, c := range o.changed {
		if changed(r) {
			close(c)
			delete(o.changed, r)
		}
	}
}

// fail ends the watch of all replicas with an error, nil for the end of the app.
func (o *observation) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed, o.ended = err, true
	o.wake(func(spec.Replica) bool { return true })
}

// replica returns the known runs of a replica. The channel is closed when they change or
// the app ends.
func (o *observation) replica(
	r spec.Replica,
) (runs map[logName][]Run, changed <-chan struct{}, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed[r] == nil {
		o.changed[r] = make(chan struct{})
	}
	return o.runs[r], o.changed[r], o.ended
}

// watch keeps the snapshot current until all callers have called release.
func (a *App) watch() (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watchers++; a.watchers == 1 {
		var ctx context.Context
		ctx, a.stop = context.WithCancel(context.Background())
		go a.keepWatch(ctx)
	}
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.watchers--; a.watchers == 0 {
			a.stop()
			a.seen = time.Time{}
		}
	})
}

func (a *App) keepWatch(ctx context.Context) {
	save := time.NewTicker(2 * logcopy.SaveEvery)
	defer save.Stop()
	done := make(chan error, 1)
	if !a.Pushed {
		go func() { done <- a.Cluster.Watch(ctx, a.See) }()
	}
	for {
		select {
		case <-save.C:
			a.saveCursors()
		case err := <-done:
			switch {
			case errors.Is(err, backend.ErrNotFound): // the app and all pods were deleted
				a.See(&Snapshot{Status: &spec.Status{State: spec.Unknown, Msg: err.Error()}})
				a.fail(nil)
			case err != nil && ctx.Err() == nil:
				a.fail(err)
			}
			<-ctx.Done()
			return
		}
	}
}

// history returns the history's positions, nil if there is no history.
func (a *App) history(ctx context.Context) Positions {
	if a.Positions == nil {
		return nil
	}
	return a.Positions(ctx)
}

// saveCursors stores cursors in the history, best effort: each log has a cursor file.
func (a *App) saveCursors() {
	a.mu.Lock()
	cursors := a.cursors
	a.cursors = map[string]string{}
	a.mu.Unlock()
	if len(cursors) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if db := a.history(ctx); db != nil {
		if err := db.SetPositions(ctx, a.Backend, a.ID, cursors); err != nil && a.Warn != nil {
			a.Warn(err.Error())
		}
	}
}

// openLog opens a log of a replica for copying.
func (a *App) openLog(ctx context.Context, r spec.Replica, name logName) (*log, error) {
	key := fmt.Sprintf("archive/%s/%d/%d/%s", r.Role, r.ID, name.attempt, name.container)
	if a.Stream != "" {
		key += "/" + string(a.Stream)
	}
	stored := ""
	if db := a.history(ctx); db != nil {
		if text, _, err := db.GetPosition(ctx, a.Backend, a.ID, key); err == nil { // on an error the cursor file is used
			stored = text
		}
	}
	return openLog(name.dir(a.Dir, r), stored, func(text string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.cursors[key] = text // stored in batches
	})
}

// view is one log on the cluster.
type view struct {
	app     *App
	replica spec.Replica
	name    logName
	once    bool // it is read without following
}

func (v *view) runs() ([]Run, <-chan struct{}, bool) {
	all, changed, ended := v.app.replica(v.replica)
	return all[v.name], changed, ended
}

// runView is one run of a log. It implements logcopy.Source.
type runView struct {
	*view
	run     Run
	isEarly func(*Run) bool // lines of the next run were copied as those of this one; may be nil
}

// current returns the current state of the run, Gone if the cluster no longer has it.
func (v *runView) current() (r Run, changed <-chan struct{}, ended bool) {
	runs, changed, ended := v.runs()
	if i := slices.IndexFunc(runs, func(r Run) bool { return r.same(&v.run) }); i >= 0 {
		return runs[i], changed, ended
	}
	r = v.run
	r.State = logcopy.Gone
	return r, changed, ended
}

// State implements logcopy.Source.
func (v *runView) State() (logcopy.State, <-chan struct{}) {
	r, changed, ended := v.current()
	if ended && r.State == logcopy.Waiting {
		return logcopy.NeverStarted, changed
	}
	return r.State, changed
}

// Open implements logcopy.Source.
func (v *runView) Open(ctx context.Context, o logcopy.Options) (logcopy.Stream, error) {
	open := func() (logcopy.Stream, error) { return v.open(ctx, o) }
	if v.once {
		return v.app.outages.retry(ctx, v.run.Node, open)
	}
	return open()
}

func (v *runView) open(ctx context.Context, o logcopy.Options) (logcopy.Stream, error) {
	select {
	case v.app.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-v.app.opening }()
	r, _, _ := v.current()
	if r.State == logcopy.Gone {
		return nil, logcopy.ErrGone
	}
	if v.isEarly != nil && v.isEarly(&r) {
		return nil, &logcopy.UnreadableError{Err: errEarly}
	}
	body, err := v.app.Cluster.Open(ctx, r, o)
	if err != nil {
		return nil, err
	}
	if o.Follow {
		v.app.mu.Lock()
		v.app.followed[v.replica] = true
		v.app.mu.Unlock()
	}
	return NewStream(body, !o.Since.IsZero()), nil
}
