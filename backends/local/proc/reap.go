//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"torchx/runtime/agent"
	"torchx/runtime/cgroup"
	"torchx/runtime/failpoint"
	"torchx/runtime/procs"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// reap is the only waiter for children. Because it reaps orphans it has to wait for any
// child, so it would take the statuses of other waiters.
func (p *Launcher) reap() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGCHLD)
	for {
		for p.reapOne() {
		}
		<-signals
	}
}

// reapOne reaps one ended child. It reports whether there was one.
func (p *Launcher) reapOne() bool {
	p.mu.Lock()
	pid, status, usage, ok := waitChild(p.endGroup)
	started := p.running[pid]
	if started != nil {
		delete(p.running, pid)
		delete(p.byKey, started.replica)
	}
	p.mu.Unlock()
	if started != nil {
		p.terminals.ReleaseCurrent()
		p.drainer.release(started.log)
		e := started.exit(status, &usage)
		p.releaseGroup(started)
		p.exits <- e
	}
	return ok
}

// maxrssUnit is the unit of ru_maxrss in bytes: getrusage(2).
func maxrssUnit() int64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1024
}

func (s *process) exit(status unix.WaitStatus, u *unix.Rusage) agent.Exit {
	e := agent.Exit{
		Replica: s.replica, Attempt: s.attempt, Time: failpoint.Now(), Code: status.ExitStatus(),
		Msg: s.oomMessage(), Usage: s.usage(u),
	}
	if status.Signaled() {
		e.Code = spec.ExitSignal + int(status.Signal())
		e.Signal = signalName(status.Signal())
	}
	return e
}

// limitedMargin is how much more memory this program may need as LimitedCommand than as an agent.
const limitedMargin = 16 << 20

// usage returns what the kernel knows about an ended attempt: the peak of its control group, else
// that of its largest process. A process starts with the peak of its parent, this agent, so a
// value that is not larger than that says nothing.
func (s *process) usage(u *unix.Rusage) *agent.Usage {
	cpu := seconds(u.Utime) + seconds(u.Stime)
	usage := &agent.Usage{CPU: &cpu}
	if s.group != "" {
		if usage.MaxRSS = cgroup.Peak(s.group); usage.MaxRSS > 0 {
			usage.Source = sample.Cgroup
			return usage
		}
	}
	var own unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &own) != nil {
		return usage
	}
	floor := maxRSS(&own)
	if s.limited {
		floor += limitedMargin
	}
	if peak := maxRSS(u); peak > floor {
		usage.MaxRSS, usage.Source = peak, sample.Process
	}
	return usage
}

// maxRSS returns the peak of a process in bytes.
func maxRSS(u *unix.Rusage) int64 {
	return int64(u.Maxrss) * maxrssUnit() //nolint:unconvert // it is 32 bits wide on some systems
}

func seconds(t unix.Timeval) float64 { return time.Duration(t.Nano()).Seconds() }

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s)) // real-time signals have no names
}

// endGroup sends SIGTERM to the remaining processes of a replica's process group. It is
// called before the leader is reaped, so that its PID is not reused.
func (p *Launcher) endGroup(pid int) {
	if p.running[pid] != nil {
		_ = unix.Kill(-pid, unix.SIGTERM) // fails if the group is empty
	}
}

// Terminate sends SIGTERM to the replica's process group, and SIGHUP to interactive
// shells, which ignore SIGTERM.
func (p *Launcher) Terminate(r spec.Replica) {
	p.signal(r, unix.SIGTERM)
	if p.terminals != nil && p.ignoresTerm(r) {
		p.signal(r, unix.SIGHUP)
	}
}

func (p *Launcher) ignoresTerm(r spec.Replica) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	started := p.byKey[r]
	return started != nil && procs.Ignores(started.pid, int(unix.SIGTERM))
}

// Kill kills the replica's process group and all other descendants.
func (p *Launcher) Kill(r spec.Replica) {
	p.mu.Lock()
	started := p.byKey[r]
	p.mu.Unlock()
	if started == nil {
		return
	}
	others := descendants(started.pid)
	p.signal(r, unix.SIGKILL)
	if started.group != "" {
		cgroup.Kill(started.group)
	}
	for _, pid := range others {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// signal sends a signal to the process group of a replica that has not been reaped.
func (p *Launcher) signal(r spec.Replica, sig unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	started := p.byKey[r]
	if started == nil {
		return
	}
	if err := unix.Kill(-started.pid, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		p.log.Printf("signal %s/%d: %v", r.Role, r.ID, err)
	}
}
