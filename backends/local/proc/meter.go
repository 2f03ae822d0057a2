//go:build unix

package proc

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sys/unix"

	"torchx/runtime/agent"
	"torchx/runtime/cgroup"
	"torchx/runtime/procs"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// Why nothing is known about processes.
var (
	errNoProc = errors.New("this system does not tell what processes use (Linux does)")
	errHidden = errors.New("/proc does not show the processes of this app (it is mounted with hidepid)")
)

// Measure implements agent.Meter. Memory is that of the control group of an attempt if it has one
// with the memory controller, else that of its processes.
func (p *Launcher) Measure(_ context.Context, running []agent.Running) []sample.Reading {
	roots := make([]procs.Root, len(running))
	for i, r := range running {
		roots[i] = procs.Root{PID: r.Process.PID, Start: r.Process.StartTime, Output: r.Process.Output}
	}
	trees := p.tracker.Measure(roots)
	readings := make([]sample.Reading, len(running))
	for i, r := range running {
		tree, ok := trees[r.Process.PID]
		switch {
		case runtime.GOOS != "linux":
			readings[i].Err = errNoProc
		case ok:
			readings[i] = sample.OfTree(&tree)
			p.addGroup(&readings[i], r.Replica)
		case unix.Kill(r.Process.PID, 0) == nil && !isZombie(r.Process.PID):
			readings[i].Err = errHidden
		}
	}
	return readings
}

func isZombie(pid int) bool {
	found, ok := procs.Get(pid)
	return ok && found.Zombie
}

// addGroup adds what the control group of a replica's attempt knows.
func (p *Launcher) addGroup(r *sample.Reading, replica spec.Replica) {
	p.mu.Lock()
	started := p.byKey[replica]
	p.mu.Unlock()
	if started == nil || started.group == "" {
		return
	}
	u := cgroup.Of(started.group).Usage()
	if u.Memory != nil {
		r.Memory, r.Source, r.Peak = u.Memory, sample.Cgroup, u.Peak
	}
	if u.CPU != nil {
		r.CPU = u.CPU // includes processes that have ended
	}
}
