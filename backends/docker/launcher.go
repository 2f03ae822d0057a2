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

	"torchx/backends/driver"
	"torchx/backends/supervised"
	"torchx/backends/ttypipe"
	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// launcher runs the replicas of one app as containers.
type launcher struct {
	appContainers

	engine *engine
	layout supervised.Layout
	log    *log.Logger
	ctx    context.Context // canceled by Finish
	cancel context.CancelFunc

	checkpoints  agent.Checkpoints
	exits        chan agent.Exit
	conditions   chan agent.Condition
	startRefused atomic.Bool  // a container could not be started
	engineLostAt atomic.Int64 // Unix time in ns; 0: never
	logs         logCopies
	runs         runs
	terminal     *ttypipe.Server // nil: the app has none
}

// appContainers are the planned containers of an app.
type appContainers struct {
	app     string // app ID
	request Request
	byKey   map[spec.Replica]*Container
	inLog   bool   // metrics are in the output of containers
	output  string // folder of outputs on this machine; "": the engine cannot mount it
}

// runs are the attempts that have started and not ended.
type runs struct {
	mu        sync.Mutex
	byID      map[string]*run // by container ID
	byReplica map[spec.Replica]*run
}

// logCopies are the goroutines that copy logs of containers.
type logCopies struct {
	sync.WaitGroup

	started  sync.Map     // by container ID
	progress atomic.Int64 // entries received from the engine's logs
}

var (
	_ agent.Launcher          = (*launcher)(nil)
	_ agent.Adopter           = (*launcher)(nil)
	_ agent.AddressFinder     = (*launcher)(nil)
	_ agent.ConditionReporter = (*launcher)(nil)
)

// run is one started attempt: a container.
type run struct {
	replica    spec.Replica
	attempt    int
	id         string
	startedAt  time.Time
	generation string            // ID of the engine's generation when it started
	stopped    atomic.Bool       // Terminate or Kill was called
	adopted    bool              // a former agent started it: it was not watched for a while
	onLine     func([]byte) bool // called with each line of output, if not nil
	ended      chan struct{}
	endOnce    sync.Once
	oom        chan struct{} // closed by the event that the kernel ran out of memory
	oomOnce    sync.Once
	terminal   *connection // to its terminal since before the start; nil: none
	meter      meter       // of the agent's measuring goroutine
	checking   sync.Mutex  // one check at a time, so that conditions are reported in order
	condition  agent.Condition
}

// newLauncher returns the launcher of a bundle's agent. The engine need not answer yet.
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
		appContainers: appContainers{app: m.ID, byKey: map[spec.Replica]*Container{}, output: outputFor(b, m, at), inLog: m.MetricsInLog},
		engine:        &engine{Client: c},
		layout:        supervised.Layout{Dir: b.Dir},
		conditions:    make(chan agent.Condition),
		log:           log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds),
		runs:          runs{byID: map[string]*run{}, byReplica: map[spec.Replica]*run{}},
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
	l.exits = make(chan agent.Exit, len(l.byKey)+1)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if m.TTY != nil {
		if l.terminal, err = ttypipe.Serve(supervised.TerminalInput(b), *m.TTY, l.log); err != nil {
			return nil, err
		}
	}
	go l.watch()
	return l, nil
}

// Check implements agent.Launcher. Start does all checks.
func (l *launcher) Check() error { return nil }

// Exits implements agent.Launcher.
func (l *launcher) Exits() <-chan agent.Exit { return l.exits }

// Checkpoints implements agent.Launcher.
func (l *launcher) Checkpoints() []agent.Checkpoint { return l.checkpoints.Take() }

// Ended implements agent.Launcher. It adds nothing to the status.
func (l *launcher) Ended(*spec.Status) error { return nil }

// add registers a run, so that its end is reported.
func (s *runs) add(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[r.id], s.byReplica[r.replica] = r, r
}

// remove unregisters a run. Without ended it did not start, so its replica has no run either.
func (s *runs) remove(r *run, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, r.id)
	if !ended && s.byReplica[r.replica] == r {
		delete(s.byReplica, r.replica)
	}
}

// latest returns the latest run of a replica; nil if there is none.
func (s *runs) latest(r spec.Replica) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byReplica[r]
}

// matching returns the runs that have not ended: that of one container, or all if id is "".
func (s *runs) matching(id string) (found []*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byID {
		if id == "" || r.id == id {
			found = append(found, r)
		}
	}
	return found
}

// follow watches a started container: its end and its output.
func (l *launcher) follow(r *run) {
	l.runs.add(r)
	l.startCopy(r)
}

// startCopy starts copying the log of a container, once.
func (l *launcher) startCopy(r *run) {
	if _, copying := l.logs.started.LoadOrStore(r.id, true); !copying {
		l.logs.Go(func() {
			if l.terminal != nil {
				l.copyTerminal(r)
				return
			}
			l.copyLog(r)
		})
	}
}

// Adopt follows the containers that a former agent started.
func (l *launcher) Adopt(running []agent.Adoption) {
	for _, a := range running {
		l.follow(&run{
			replica: a.Replica, attempt: a.Attempt, id: a.Process.ID, startedAt: a.Time,
			generation: a.Process.Engine, adopted: true, onLine: a.Line, ended: make(chan struct{}), oom: make(chan struct{}),
		})
	}
	go l.checkEnds(nil) // watch may have started before they were registered
	l.logs.Go(l.completeLogs)
}

// Terminate stops a container as `docker stop` does, without the timeout.
func (l *launcher) Terminate(r spec.Replica) { l.signal(r, "") }

// Kill kills a container.
func (l *launcher) Kill(r spec.Replica) { l.signal(r, "SIGKILL") }

// signal sends in the background: an engine that is busy or down must not delay the
// signals to other replicas.
func (l *launcher) signal(replica spec.Replica, name string) {
	r := l.runs.latest(replica)
	if r == nil {
		return
	}
	r.stopped.Store(true)
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
		err := l.engine.do(ctx, func() error { return l.engine.send(ctx, r.id, name) })
		if err != nil && ctx.Err() == nil {
			l.log.Printf("signal %s/%d: %v", replica.Role, replica.ID, plain(err))
		}
	}()
}

// Addresses returns where this machine reaches a port of a replica's container.
func (l *launcher) Addresses(
	ctx context.Context, r spec.Replica, port int,
) ([]agent.Address, error) {
	current := l.runs.latest(r)
	if current == nil {
		return nil, nil
	}
	c, err := l.engine.ContainerInspect(ctx, current.id)
	if err != nil {
		return nil, nil //nolint:nilerr // the next check asks again
	}
	return addressesOf(l.engine.Client, c, port)
}

func runAgent(dir string, p driver.Program) int {
	return agent.Main(dir, agent.Config{
		NewLauncher: func(b agent.Bundle, m *agent.Manifest) (agent.Launcher, error) { return newLauncher(b, m) },
		OpenStore:   p.OpenStore,
		Await:       p.Await,
	})
}
