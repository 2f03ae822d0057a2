package archive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"torchx/backends/kubernetes/podlog"
	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

const (
	// lookFor is how long one look at the cluster serves: an app may have a thousand
	// replicas, whose logs are opened one after the other.
	lookFor = 2 * time.Second
	// patience is how long a cluster may be away while a log is read without following.
	patience = time.Minute
	// endWait bounds the wait for containers that go on when their app has ended: a pod
	// that is stopped has 30 s by default.
	endWait = 40 * time.Second
	// parallel is how many logs are copied at once when they are not followed, and
	// opened at once when they are.
	parallel = 32
)

// Config says whose logs an App keeps.
type Config struct {
	Backend   string // its name, for the history
	ID        string
	Dir       string
	Stream    backend.Stream // the only one that Cluster sends; "" is both, Combined
	Cluster   Cluster
	Positions func(ctx context.Context) Positions // nil, or returns nil: there is no history
	Hub       *logstore.Hub
	// Warn is told of trouble that stops nobody, one line each; nil drops it.
	Warn func(line string)
}

// App is the archive of one app. It may be used by several goroutines.
type App struct {
	Config
	patience time.Duration
	gate     chan struct{} // has room for logs that are being opened
	slots    chan struct{} // has room for replicas that are copied without following

	looking sync.Mutex // held while the cluster is asked

	mu         sync.Mutex
	snap       *Snapshot
	looked     time.Time
	over       bool // the app has ended, and this was seen after it
	failed     error
	runs       map[spec.Replica]map[logName][]Run
	changed    map[spec.Replica]chan struct{}
	watchers   int
	stop       context.CancelFunc
	collectors map[spec.Replica]*collector
	cursors    map[string]string // not in the history yet
}

// New returns the archive of an app; it touches nothing.
func New(c Config) *App {
	return &App{
		Config: c, patience: patience, gate: make(chan struct{}, parallel), slots: make(chan struct{}, parallel),
		runs: map[spec.Replica]map[logName][]Run{}, changed: map[spec.Replica]chan struct{}{},
		collectors: map[spec.Replica]*collector{}, cursors: map[string]string{},
	}
}

// look returns what is on the cluster, seen a moment ago at most.
func (a *App) look(ctx context.Context) (*Snapshot, error) {
	a.looking.Lock()
	defer a.looking.Unlock()
	a.mu.Lock()
	snap, fresh := a.snap, a.watchers > 0 || time.Since(a.looked) < lookFor
	a.mu.Unlock()
	if snap != nil && fresh {
		return snap, nil
	}
	snap, err := a.Cluster.Look(ctx)
	if err != nil {
		return nil, err
	}
	a.see(snap)
	return snap, nil
}

// see takes what is on the cluster now, and tells those whose replica has changed.
func (a *App) see(s *Snapshot) {
	runs := map[spec.Replica]map[logName][]Run{}
	for _, r := range s.Runs {
		of := runs[r.Replica]
		if of == nil {
			of = map[logName][]Run{}
			runs[r.Replica] = of
		}
		name := logName{r.Attempt, r.Container}
		of[name] = append(of[name], r)
	}
	for _, of := range runs {
		for _, list := range of {
			slices.SortFunc(list, func(x, y Run) int { return x.compare(&y) })
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	over := s.Status != nil && s.Status.State.Terminal()
	for r, c := range a.changed {
		if over != a.over || !equal(a.runs[r], runs[r]) {
			close(c)
			delete(a.changed, r)
		}
	}
	a.snap, a.looked, a.runs, a.over = s, time.Now(), runs, over
}

func equal(x, y map[logName][]Run) bool {
	if len(x) != len(y) {
		return false
	}
	for name, list := range x {
		if !slices.Equal(list, y[name]) {
			return false
		}
	}
	return true
}

// fail ends the watch of all replicas.
func (a *App) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed, a.over = err, true
	for r, c := range a.changed {
		close(c)
		delete(a.changed, r)
	}
}

// of is what is known of a replica; the channel is closed when that changes.
func (a *App) of(r spec.Replica) (runs map[logName][]Run, changed <-chan struct{}, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.changed[r]
	if c == nil {
		c = make(chan struct{})
		a.changed[r] = c
	}
	return a.runs[r], c, a.over
}

// watch keeps the snapshot true until all who asked for it have called the function
// that it returns.
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
			a.looked = time.Time{}
		}
	})
}

func (a *App) keepWatch(ctx context.Context) {
	save := time.NewTicker(2 * logcopy.SaveEvery)
	defer save.Stop()
	done := make(chan error, 1)
	go func() { done <- a.Cluster.Watch(ctx, a.see) }()
	for {
		select {
		case <-save.C:
			a.saveCursors()
		case err := <-done:
			switch {
			case errors.Is(err, backend.ErrNotFound): // it was deleted: all pods are gone
				a.see(&Snapshot{Status: &spec.Status{State: spec.Unknown}})
				a.fail(nil)
			case err != nil && ctx.Err() == nil:
				a.fail(err)
			}
			<-ctx.Done()
			return
		}
	}
}

// keepCursor notes a cursor for the history, which gets many at a time.
func (a *App) keepCursor(key, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cursors[key] = text
}

// saveCursors is best effort: each log has its cursor beside it.
func (a *App) saveCursors() {
	a.mu.Lock()
	cursors := a.cursors
	a.cursors = map[string]string{}
	a.mu.Unlock()
	if len(cursors) == 0 || a.Positions == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	db := a.Positions(ctx)
	if db == nil {
		return
	}
	if err := db.SetPositions(ctx, a.Backend, a.ID, cursors); err != nil {
		a.warn(err)
	}
}

func (a *App) warn(err error) {
	if a.Warn != nil {
		a.Warn(err.Error())
	}
}

// cursorOf is what the history has, "" if nothing.
func (a *App) cursorOf(ctx context.Context, key string) string {
	if a.Positions == nil {
		return ""
	}
	db := a.Positions(ctx)
	if db == nil {
		return ""
	}
	text, _, err := db.GetPosition(ctx, a.Backend, a.ID, key)
	if err != nil {
		return "" // the file has it
	}
	return text
}

// openLog opens a log of a replica for copying.
func (a *App) openLog(ctx context.Context, r spec.Replica, name logName) (*log, error) {
	key := fmt.Sprintf("archive/%s/%d/%d/%s", r.Role, r.ID, name.attempt, name.container)
	if a.Stream != "" {
		key += "/" + string(a.Stream)
	}
	return openLog(name.dir(replicaDir(a.Dir, r)), a.cursorOf(ctx, key), func(text string) { a.keepCursor(key, text) })
}

func (a *App) lockPath(r spec.Replica) string { return filepath.Join(replicaDir(a.Dir, r), lockFile) }

// view is one log as the cluster has it.
type view struct {
	app     *App
	replica spec.Replica
	name    logName
}

func (v *view) runs() ([]Run, <-chan struct{}, bool) {
	all, changed, over := v.app.of(v.replica)
	return all[v.name], changed, over
}

// runView is one run of it; it is a logcopy.Source.
type runView struct {
	*view
	run Run
}

func (v *runView) find() (Run, <-chan struct{}) {
	runs, changed, _ := v.runs()
	for _, r := range runs {
		if r.same(&v.run) {
			return r, changed
		}
	}
	r := v.run
	r.State = logcopy.Gone
	return r, changed
}

// State implements logcopy.Source.
func (v *runView) State() (logcopy.State, <-chan struct{}) {
	r, changed := v.find()
	if _, _, over := v.runs(); over && r.State == logcopy.Waiting {
		return logcopy.Never, changed
	}
	return r.State, changed
}

// Open implements logcopy.Source.
func (v *runView) Open(ctx context.Context, o logcopy.Options) (logcopy.Stream, error) {
	select {
	case v.app.gate <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-v.app.gate }()
	r, _ := v.find()
	if r.State == logcopy.Gone {
		return nil, logcopy.ErrGone
	}
	body, err := v.app.Cluster.Open(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return podlog.NewStream(body, !o.Since.IsZero()), nil
}
