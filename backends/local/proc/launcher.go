//go:build unix

// Package proc runs replicas as processes of this machine, each in its own session. It
// copies their output to log files and ends all processes that they started.
//
//	Launcher   starts and signals processes, reaps all children
//	spawner    forks from one thread
//	drainer    reads the pipes of all replicas into attemptLogs
//	terminals  the pseudo-terminal of an app with --tty
package proc

import (
	"cmp"
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"torchx/backends/ttypipe"
	"torchx/runtime/agent"
	"torchx/runtime/cgroup"
	"torchx/runtime/logstore"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// Command is the process of one attempt of a replica.
type Command struct {
	Argv      []string
	Env       []string // complete environment, "K=V"
	Dir       string   // absolute working folder
	ImageRoot string   // folder to search first for a relative entry point; "": none
	LogDir    string   // absolute folder of the attempt's log, created if necessary
	LogLimit  int64    // bytes to keep of each stream's log; 0: all
	ErrorFile string   // absolute path to which a failing program may write its error

	Confinement
}

// Confinement limits the resources of an attempt.
type Confinement struct {
	MaxData      int64  // private memory per process in bytes; 0: unlimited
	CgroupParent string // folder in which to create the attempt's control group; "": none
	CgroupName   string // name of that control group
	CgroupLimits cgroup.Limits
	SharedCgroup string // control group of all attempts, if they have no separate ones; "": none
}

// Launcher implements agent.Launcher for processes.
type Launcher struct {
	command  func(r spec.Replica, attempt int) Command
	replicas []spec.Replica
	log      *log.Logger

	tracker     *procs.Tracker // of Measure
	spawner     *spawner
	drainer     *drainer
	checkpoints *agent.Checkpoints
	// terminals is nil without a pseudo-terminal.
	terminals *ttypipe.Server
	exits     chan agent.Exit

	mu             sync.Mutex // held around fork and wait, so that the process of every exit is known
	running        map[int]*process
	byKey          map[spec.Replica]*process
	leftGroups     []string // control groups to remove at the end
	noSharedCgroup bool     // processes cannot be started in the shared control group
}

var (
	_ agent.Launcher = (*Launcher)(nil)
	_ agent.Meter    = (*Launcher)(nil)
)

// process is a started attempt that has not been reaped.
type process struct {
	replica spec.Replica
	attempt int
	pid     int
	log     *attemptLog

	group     string // folder of its control group; "": none
	maxMemory int64  // memory limit in bytes; 0: none
	limited   bool   // this program sets its limits, then executes it
}

// New returns a Launcher and makes the calling process the reaper of all processes that
// replicas start. A process can have only one Launcher.
func New(
	replicas []spec.Replica, command func(spec.Replica, int) Command, l *log.Logger,
) (*Launcher, error) {
	if err := becomeReaper(); err != nil {
		return nil, err
	}
	drainer, err := newDrainer(l)
	if err != nil {
		return nil, err
	}
	p := &Launcher{
		command: command, replicas: replicas, log: l,
		tracker: procs.NewTracker(os.Getpid()), spawner: newSpawner(), drainer: drainer, checkpoints: &agent.Checkpoints{}, exits: make(chan agent.Exit, len(replicas)+1),
		running: map[int]*process{}, byKey: map[spec.Replica]*process{},
	}
	go p.reap()
	return p, nil
}

// Check looks up every program before any starts.
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

// Start starts attempts in order, up to the first that cannot start. While one is forked, which
// waits for its exec, the next is prepared.
func (p *Launcher) Start(ctx context.Context, batch []agent.Start) []agent.Started {
	started := make([]agent.Started, len(batch))
	next, quit := make(chan *prepared), make(chan struct{})
	go p.prepareAll(batch, next, quit)
	stop := false
	for i := range batch {
		if stop = stop || ctx.Err() != nil; stop {
			started[i].Err = agent.ErrNotTried
			continue
		}
		started[i].Process, started[i].Err = p.fork(<-next)
		started[i].Time = time.Now()
		stop = started[i].Err != nil
	}
	close(quit)
	for a := range next {
		p.discard(a)
	}
	return started
}

// prepared is an attempt that is ready to be forked, or the error why it is not.
type prepared struct {
	agent.Start
	command Command
	path    string // of the program
	log     *attemptLog
	err     error
}

// prepareAll prepares attempts, one ahead of its receiver, until one fails or quit is closed.
func (p *Launcher) prepareAll(batch []agent.Start, next chan<- *prepared, quit <-chan struct{}) {
	defer close(next)
	for _, s := range batch {
		a := &prepared{Start: s}
		a.err = p.prepare(a)
		select {
		case next <- a:
		case <-quit:
			p.discard(a)
			return
		}
		if a.err != nil {
			return
		}
	}
}

// prepare finds the program of an attempt and opens its log.
func (p *Launcher) prepare(a *prepared) (err error) {
	a.command = p.command(a.Replica, a.Attempt)
	a.command.Env = mergeEnv(a.command.Env, a.Env)
	if a.path, err = resolve(a.command); err != nil {
		return err
	}
	logs, err := p.openLog(a.command.LogDir, a.command.LogLimit,
		p.checkpoints.Of(a.Replica, a.Attempt), a.Line)
	if err != nil {
		return err
	}
	p.drainer.prepare(logs)
	if err := p.drainer.add(logs); err != nil {
		p.terminals.ReleaseCurrent()
		logs.close(p.log)
		return err
	}
	a.log = logs
	return nil
}

// discard ends the log of an attempt that is not forked and removes its empty files.
func (p *Launcher) discard(a *prepared) {
	if a.log == nil {
		return
	}
	p.release(a)
	for _, name := range []string{logstore.StdoutFile, logstore.StderrFile, logstore.IndexFile, ""} {
		_ = os.Remove(filepath.Join(a.command.LogDir, name)) // the folder may have other files
	}
}

// release ends the log of an attempt that was not started.
func (p *Launcher) release(a *prepared) {
	p.terminals.ReleaseCurrent()
	p.drainer.release(a.log)
}

// fork starts a prepared attempt.
func (p *Launcher) fork(a *prepared) (started agent.Process, err error) {
	if err = a.err; err == nil {
		if started, err = p.forkInGroup(a); err != nil {
			p.release(a)
		}
	}
	if err != nil {
		return agent.Process{}, startFailure(a.Replica, err)
	}
	return started, nil
}

func (p *Launcher) forkInGroup(a *prepared) (agent.Process, error) {
	c, logs := &a.command, a.log
	p.mu.Lock()
	defer p.mu.Unlock()
	group, err := c.createCgroup()
	if err != nil {
		return agent.Process{}, err
	}
	pid, all, err := p.spawnInGroup(a.path, *c, logs, group)
	if err != nil {
		if group != "" {
			err = errors.Join(err, cgroup.Remove(group))
		}
		return agent.Process{}, err
	}
	started := &process{a.Replica, a.Attempt, pid, logs, group, c.CgroupLimits.Memory, c.MaxData > 0}
	p.running[pid] = started
	p.byKey[a.Replica] = started
	return agent.Process{PID: pid, StartTime: startTime(pid), Hostname: "localhost", Cgroup: cmp.Or(group, all), Output: logs.pipes()}, nil
}

// spawnInGroup starts a program in its own control group, or in the shared one. The user
// did not request the shared one, so the app runs without it if it does not work.
func (p *Launcher) spawnInGroup(
	path string, c Command, logs *attemptLog, group string,
) (pid int, all string, err error) {
	if group != "" || c.SharedCgroup == "" || p.noSharedCgroup {
		pid, err = p.spawner.spawn(path, c, logs, group)
		return pid, "", err
	}
	if len(p.leftGroups) == 0 {
		err = cgroup.CreateAppGroup(c.SharedCgroup)
		p.leftGroups = []string{c.SharedCgroup}
	}
	if err == nil {
		pid, err = p.spawner.spawn(path, c, logs, c.SharedCgroup)
	}
	if err == nil {
		return pid, c.SharedCgroup, nil
	}
	pid, err = p.spawner.spawn(path, c, logs, "")
	p.noSharedCgroup = err == nil // otherwise the program is the cause
	return pid, "", err
}

// Checkpoints returns the log checkpoints since the last call.
func (p *Launcher) Checkpoints() []agent.Checkpoint { return p.checkpoints.Take() }

// Ended implements agent.Launcher. It adds nothing to the status.
func (p *Launcher) Ended(*spec.Status) error { return nil }

// Exits returns the channel of the ends of attempts.
func (p *Launcher) Exits() <-chan agent.Exit { return p.exits }

// ErrorFile returns the contents of an attempt's error file.
func (p *Launcher) ErrorFile(r spec.Replica, attempt int) []byte {
	return readErrorFile(p.command(r, attempt).ErrorFile)
}

// Finish ends remaining processes, then completes the logs.
func (p *Launcher) Finish(grace time.Duration, kill <-chan struct{}) {
	endDescendants(grace, kill)
	p.removeGroups()
	p.drainer.finish()
	p.terminals.Close()
}

// drainTimeout is how long to wait for EOF on the pipes after all known processes ended.
const drainTimeout = 500 * time.Millisecond

// finish waits until all streams have ended. After drainTimeout it gives up streams that
// another process keeps open.
func (d *drainer) finish() {
	done := make(chan struct{})
	go func() {
		d.open.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(drainTimeout):
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
