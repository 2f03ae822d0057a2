//go:build unix

package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"torchx/backends/bundled"
	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// launcher runs the replicas of one app as containers.
type launcher struct {
	engine  *engine
	app     string // its id
	handle  string
	request Request
	byKey   map[spec.Replica]*Container
	layout  bundled.Layout
	log     *log.Logger

	ctx    context.Context // ends with the launcher
	cancel context.CancelFunc
	points agent.Checkpoints
	exits  chan agent.Exit
	pumps  sync.WaitGroup
	// progress counts what came of the engine's logs.
	progress atomic.Int64
	half     atomic.Bool  // a container could not be started
	outage   atomic.Int64 // when the engine was last lost, ns since 1970; 0: never

	mu      sync.Mutex
	running map[string]*run // by container id
	current map[spec.Replica]*run
	pumped  map[string]bool // containers whose logs are archived
}

var (
	_ agent.Launcher = (*launcher)(nil)
	_ agent.Adopter  = (*launcher)(nil)
	_ agent.AddressFinder  = (*launcher)(nil)
)

// run is one attempt that has begun: a container.
type run struct {
	replica spec.Replica
	attempt int
	id      string
	began   time.Time
	life    string            // of the engine, when it began
	told    atomic.Bool       // we asked it to end
	adopted bool              // a former agent began it: nobody watched for a while
	line    func([]byte) bool // wants each line of output; nil: nobody does
	ended   chan struct{}
	once    sync.Once
}

// newLauncher is for the agent of a bundle; the engine may be away for now.
func newLauncher(b agent.Bundle, m *agent.Manifest) (*launcher, error) {
	at, err := findEndpoint(lookup(m.Environ))
	if err != nil {
		return nil, err
	}
	c, err := at.open()
	if err != nil {
		return nil, err
	}
	l := &launcher{
		engine: &engine{Client: c}, app: m.ID, handle: m.Handle, byKey: map[spec.Replica]*Container{},
		log:     log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds),
		running: map[string]*run{}, current: map[spec.Replica]*run{}, pumped: map[string]bool{},
	}
	if err := json.Unmarshal(m.Request, &l.request); err != nil {
		return nil, fmt.Errorf("read request of %s: %w", m.ID, err)
	}
	for i := range l.request.Containers {
		c := &l.request.Containers[i]
		r, err := c.replica()
		if err != nil {
			return nil, fmt.Errorf("read request of %s: %w", m.ID, err)
		}
		l.byKey[r] = c
	}
	l.layout = bundled.Layout{Dir: b.Dir}
	l.exits = make(chan agent.Exit, len(l.byKey)+1)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.watch()
	return l, nil
}

// Check has nothing to look at that Start would not say.
func (l *launcher) Check() error { return nil }

// Exits hands out the end of every attempt.
func (l *launcher) Exits() <-chan agent.Exit { return l.exits }

// Checkpoints hands out the log checkpoints that came since the last call.
func (l *launcher) Checkpoints() []agent.Checkpoint { return l.points.Take() }

// Ended has nothing to add to the status.
func (l *launcher) Ended(*spec.Status) error { return nil }

// follow takes over a container that runs, or ran: its end and its output.
func (l *launcher) follow(r *run) {
	l.mu.Lock()
	l.running[r.id], l.current[r.replica] = r, r
	l.mu.Unlock()
	l.pump(r)
}

// pump archives the log of a container, once.
func (l *launcher) pump(r *run) {
	l.mu.Lock()
	begun := l.pumped[r.id]
	l.pumped[r.id] = true
	l.mu.Unlock()
	if !begun {
		l.pumps.Go(func() { l.archive(r) })
	}
}

func (l *launcher) runOf(id string) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running[id]
}

// Adopt follows what a former agent began.
func (l *launcher) Adopt(running []agent.Adoption) {
	for _, a := range running {
		r := &run{
			replica: a.Replica, attempt: a.Attempt, id: a.Process.ID, began: a.Time,
			life: a.Process.Engine, adopted: true, line: a.Line, ended: make(chan struct{}),
		}
		l.follow(r)
	}
	go l.settle(nil) // the watch may have begun before they were known
	l.pumps.Go(l.complete)
}

// Terminate asks a container to end, as `docker stop` does.
func (l *launcher) Terminate(r spec.Replica) { l.signal(r, "") }

// Kill ends a container at once.
func (l *launcher) Kill(r spec.Replica) { l.signal(r, "SIGKILL") }

// signal returns at once: an engine that is busy or away must not hold up the
// others' signals.
func (l *launcher) signal(replica spec.Replica, name string) {
	l.mu.Lock()
	r := l.current[replica]
	if r != nil {
		r.told.Store(true)
	}
	l.mu.Unlock()
	if r == nil {
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	go func() {
		defer cancel()
		select {
		case <-r.ended:
		case <-ctx.Done():
		}
	}()
	go func() {
		defer cancel()
		err := l.engine.do(ctx, func() error { return l.send(ctx, r.id, name) })
		if err != nil && ctx.Err() == nil {
			l.log.Printf("end %s/%d: %v", replica.Role, replica.ID, plain(err))
		}
	}()
}
