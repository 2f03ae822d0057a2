//go:build unix

package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/go-connections/nat"

	"torchx/backends/bundled"
	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// launcher runs the replicas of one app as containers.
type launcher struct {
	appContainers

	engine *engine
	layout bundled.Layout
	log    *log.Logger
	ctx    context.Context // ends with the launcher
	cancel context.CancelFunc

	checkpoints agent.Checkpoints
	exits       chan agent.Exit
	refused     atomic.Bool  // a container could not be started
	outage      atomic.Int64 // when the engine was last lost, ns since 1970; 0: never
	logs        logCopies
	runs        runs
}

// appContainers are the containers that an app was planned to have.
type appContainers struct {
	app     string // its id
	request Request
	byKey   map[spec.Replica]*Container
}

// runs are the attempts that have begun and not ended.
type runs struct {
	mu        sync.Mutex
	byID      map[string]*run // container id
	byReplica map[spec.Replica]*run
}

// logCopies are the goroutines that copy logs of containers.
type logCopies struct {
	sync.WaitGroup

	begun    sync.Map     // container ids
	progress atomic.Int64 // entries that came of the engine's logs
}

var (
	_ agent.Launcher      = (*launcher)(nil)
	_ agent.Adopter       = (*launcher)(nil)
	_ agent.AddressFinder = (*launcher)(nil)
)

// run is one attempt that has begun: a container.
type run struct {
	replica    spec.Replica
	attempt    int
	id         string
	began      time.Time
	generation string            // of the engine, when it began
	stopped    atomic.Bool       // it was asked to end
	adopted    bool              // a former agent began it: nothing watched it for a while
	line       func([]byte) bool // wants each line of output; nil: not needed
	ended      chan struct{}
	once       sync.Once
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
		appContainers: appContainers{app: m.ID, byKey: map[spec.Replica]*Container{}},
		engine:        &engine{Client: c},
		layout:        bundled.Layout{Dir: b.Dir},
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
	go l.watch()
	return l, nil
}

// Check implements agent.Launcher: Start finds out everything.
func (l *launcher) Check() error { return nil }

// Exits implements agent.Launcher.
func (l *launcher) Exits() <-chan agent.Exit { return l.exits }

// Checkpoints implements agent.Launcher.
func (l *launcher) Checkpoints() []agent.Checkpoint { return l.checkpoints.Take() }

// Ended implements agent.Launcher: it adds nothing to the status.
func (l *launcher) Ended(*spec.Status) error { return nil }

// add makes a run known to those who hear of its end.
func (s *runs) add(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[r.id], s.byReplica[r.replica] = r, r
}

// remove forgets a run, and its replica's if that is not over: it did not begin.
func (s *runs) remove(r *run, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, r.id)
	if !ended && s.byReplica[r.replica] == r {
		delete(s.byReplica, r.replica)
	}
}

// of returns the newest run of a replica; nil if there is none.
func (s *runs) of(r spec.Replica) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byReplica[r]
}

// matching returns the runs that have not ended: of one container, or all if id is "".
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

// follow takes over a container that runs, or ran: its end and its output.
func (l *launcher) follow(r *run) {
	l.runs.add(r)
	l.startCopy(r)
}

// startCopy copies the log of a container, once.
func (l *launcher) startCopy(r *run) {
	if _, begun := l.logs.begun.LoadOrStore(r.id, true); !begun {
		l.logs.Go(func() { l.copyLog(r) })
	}
}

// Adopt follows what a former agent began.
func (l *launcher) Adopt(running []agent.Adoption) {
	for _, a := range running {
		l.follow(&run{
			replica: a.Replica, attempt: a.Attempt, id: a.Process.ID, began: a.Time,
			generation: a.Process.Engine, adopted: true, line: a.Line, ended: make(chan struct{}),
		})
	}
	go l.checkEnds(nil) // the watch may have begun before they were known
	l.logs.Go(l.completeLogs)
}

// Terminate asks a container to end, as `docker stop` does.
func (l *launcher) Terminate(r spec.Replica) { l.signal(r, "") }

// Kill ends a container at once.
func (l *launcher) Kill(r spec.Replica) { l.signal(r, "SIGKILL") }

// signal returns at once: an engine that is busy or away must not hold up the
// others' signals.
func (l *launcher) signal(replica spec.Replica, name string) {
	r := l.runs.of(replica)
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
			l.log.Printf("end %s/%d: %v", replica.Role, replica.ID, plain(err))
		}
	}()
}

// Reach returns a container's address in the app's network, which this machine can
// reach if the engine runs on its kernel, else where the port is published.
func (l *launcher) Addresses(ctx context.Context, r spec.Replica, port int) (found []agent.Address) {
	current := l.runs.of(r)
	if current == nil || !strings.HasPrefix(l.engine.DaemonHost(), localEngine) {
		return nil // elsewhere those addresses may be another machine's
	}
	c, err := l.engine.ContainerInspect(ctx, current.id)
	if err != nil || c.NetworkSettings == nil {
		return nil
	}
	if n := c.NetworkSettings.Networks[l.request.Network]; n != nil && n.IPAddress != "" && runtime.GOOS == "linux" {
		return []agent.Address{{HostPort: net.JoinHostPort(n.IPAddress, strconv.Itoa(port))}}
	}
	for _, b := range c.NetworkSettings.Ports[nat.Port(strconv.Itoa(port)+"/tcp")] {
		found = append(found, agent.Address{HostPort: net.JoinHostPort(b.HostIP, b.HostPort), Proxied: true})
	}
	return found
}
