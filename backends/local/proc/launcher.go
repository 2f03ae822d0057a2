//go:build unix

// Package proc runs replicas as processes of this machine: each in its own
// session, its output drained into log files, all that it started ended with it.
package proc

import (
	"cmp"
	"context"
	"errors"
	"log"
	"strings"
	"sync"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/cgroup"
	"torchx/runtime/spec"
)

// Command is how one attempt of a replica is run.
type Command struct {
	Argv      []string
	Env       []string // the whole environment, "K=V"
	Dir       string   // absolute working folder
	ImageRoot string   // where a relative entry point is looked up first; "": nowhere
	LogDir    string   // absolute folder of the attempt's log, made when needed
	LogLimit  int64    // bytes that each stream's log keeps, 0: all
	ErrorFile string   // absolute path that a failing program may write

	Confinement
}

// Confinement limits what an attempt uses.
type Confinement struct {
	MaxData      int64  // bytes of private memory of each process; 0: unlimited
	Cgroups      string // folder that the attempt's control group is made in; "": none
	Cgroup       string // its name there
	CgroupLimits cgroup.Limits
	Everything   string // folder of the control group of all attempts, if they have none of their own; "": none
}

// Launcher is the agent.Launcher for processes.
type Launcher struct {
	command  func(r spec.Replica, attempt int) Command
	replicas []spec.Replica
	log      *log.Logger

	spawner     *spawner
	drainer     *drainer
	checkpoints *agent.Checkpoints
	// terminals is nil unless the only replica runs on a pseudo-terminal.
	terminals *terminals
	exits     chan agent.Exit

	mu        sync.Mutex // held around fork and around wait, so that no exit is unknown
	running   map[int]*process
	byKey     map[spec.Replica]*process
	groups    []string // control groups to be removed at the end
	ungrouped bool     // processes cannot be started in the group of all attempts
}

var _ agent.Launcher = (*Launcher)(nil)

// process is a started attempt whose end has not been seen.
type process struct {
	replica spec.Replica
	attempt int
	pid     int
	log     *attemptLog

	group     string // folder of its control group; "": none
	maxMemory int64  // bytes that it may use; 0: any
}

// New makes the calling process the reaper of everything its replicas start.
// There can be one Launcher in a process.
func New(replicas []spec.Replica, command func(spec.Replica, int) Command, l *log.Logger) (*Launcher, error) {
	if err := becomeReaper(); err != nil {
		return nil, err
	}
	drainer, err := newDrainer(l)
	if err != nil {
		return nil, err
	}
	p := &Launcher{
		command: command, replicas: replicas, log: l,
		spawner: newSpawner(), drainer: drainer, checkpoints: &agent.Checkpoints{}, exits: make(chan agent.Exit, len(replicas)+1),
		running: map[int]*process{}, byKey: map[spec.Replica]*process{},
	}
	go p.reap()
	return p, nil
}

// Check looks every program up before any is started.
func (p *Launcher) Check() error {
	if err := checkOpenFiles(p.replicas); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range p.replicas {
		c := p.command(r, 0)
		key := c.Argv[0] + "\x00" + c.Dir + "\x00" + getenv(c.Env, "PATH")
		if seen[key] {
			continue
		}
		seen[key] = true
		if _, err := resolve(c); err != nil {
			return startFailure(r, err)
		}
	}
	return nil
}

// Start begins attempts one after the other, up to the first that cannot start.
func (p *Launcher) Start(ctx context.Context, batch []agent.Start) []agent.Started {
	started := make([]agent.Started, len(batch))
	stop := false
	for i, s := range batch {
		if stop = stop || ctx.Err() != nil; stop {
			started[i].Err = agent.ErrNotTried
			continue
		}
		started[i].Process, started[i].Err = p.start(s)
		started[i].Time = time.Now()
		stop = started[i].Err != nil
	}
	return started
}

// start begins an attempt with its log.
func (p *Launcher) start(s agent.Start) (agent.Process, error) {
	c := p.command(s.Replica, s.Attempt)
	c.Env = mergeEnv(c.Env, s.Env)
	path, err := resolve(c)
	if err != nil {
		return agent.Process{}, startFailure(s.Replica, err)
	}
	logs, err := openLog(c.LogDir, c.LogLimit, p.terminals, p.checkpoints.Of(s.Replica, s.Attempt), s.Line)
	if err != nil {
		return agent.Process{}, startFailure(s.Replica, err)
	}
	p.drainer.prepare(logs)
	if err := p.drainer.add(logs); err != nil {
		p.terminals.closeCurrent()
		logs.close(p.log)
		return agent.Process{}, startFailure(s.Replica, err)
	}
	started, err := p.fork(s, c, path, logs)
	if err != nil {
		p.terminals.closeCurrent()
		p.drainer.release(logs)
		return agent.Process{}, startFailure(s.Replica, err)
	}
	return started, nil
}

func (p *Launcher) fork(s agent.Start, c Command, path string, logs *attemptLog) (agent.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	group, err := c.group()
	if err != nil {
		return agent.Process{}, err
	}
	pid, all, err := p.spawnInGroup(path, c, logs, group)
	if err != nil {
		if group != "" {
			err = errors.Join(err, cgroup.Remove(group))
		}
		return agent.Process{}, err
	}
	started := &process{s.Replica, s.Attempt, pid, logs, group, c.CgroupLimits.Memory}
	p.running[pid] = started
	p.byKey[s.Replica] = started
	return agent.Process{PID: pid, StartTime: startTime(pid), Hostname: "localhost", Cgroup: cmp.Or(group, all), Output: logs.pipes()}, nil
}

// spawnInGroup starts a program in its own group, or in that of all attempts. The latter is
// not asked for: where it does not work the app runs without it.
func (p *Launcher) spawnInGroup(path string, c Command, logs *attemptLog, group string) (pid int, all string, err error) {
	if group != "" || c.Everything == "" || p.ungrouped {
		pid, err = p.spawner.spawn(path, c, logs, group)
		return pid, "", err
	}
	if len(p.groups) == 0 {
		err = cgroup.CreateAppGroup(c.Everything)
		p.groups = []string{c.Everything}
	}
	if err == nil {
		pid, err = p.spawner.spawn(path, c, logs, c.Everything)
	}
	if err == nil {
		return pid, c.Everything, nil
	}
	pid, err = p.spawner.spawn(path, c, logs, "")
	p.ungrouped = err == nil // else the program is to blame
	return pid, "", err
}

// Checkpoints hands out the log checkpoints that came since the last call.
func (p *Launcher) Checkpoints() []agent.Checkpoint { return p.checkpoints.Take() }

// Ended has nothing to add to the status.
func (p *Launcher) Ended(*spec.Status) error { return nil }

// Exits hands out the end of every attempt.
func (p *Launcher) Exits() <-chan agent.Exit { return p.exits }

// ErrorFile reads what a failing program reported of itself.
func (p *Launcher) ErrorFile(r spec.Replica, attempt int) []byte {
	return readErrorFile(p.command(r, attempt).ErrorFile)
}

// Finish ends what replicas left behind, then completes the logs.
func (p *Launcher) Finish(grace time.Duration, kill <-chan struct{}) {
	endDescendants(grace, kill)
	p.removeGroups()
	p.drainer.finish()
	if p.terminals != nil {
		p.terminals.close()
	}
}

// drainWait is how long the end of file of the pipes is awaited when no process
// of ours is left.
const drainWait = 500 * time.Millisecond

// finish waits until every stream has ended. Streams that another process keeps open are
// given up after drainWait.
func (d *drainer) finish() {
	done := make(chan struct{})
	go func() {
		d.open.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(drainWait):
		d.giveUp()
		<-done
	}
}

func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}
