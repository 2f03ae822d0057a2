package agent

import (
	"os"
	"slices"
	"strings"
	"time"

	"torchx/runtime/cgroup"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// killWait bounds the wait for the end of killed processes.
const killWait = 5 * time.Second

// Outcomes for the processes of a dead agent, as shown in the app's message.
const (
	allEnded   = "its processes were killed"
	foundEnded = "the processes found were killed; without a cgroup, a process that left its session may still run"
	notEnded   = "some of its processes could not be killed"
)

// killOrphans kills what a dead agent's replicas left running: processes of the recorded
// sessions and control groups, and those with the app's handle in their environment.
func killOrphans(appDir, handle string, starts []startRecord) (outcome string) {
	app := newOrphans(handle, starts)
	outcome = allEnded
	if app.ungrouped {
		outcome = foundEnded
	}
	for _, dir := range app.groups {
		switch {
		case !cgroup.BelongsTo(dir, appDir), slices.ContainsFunc(cgroup.Processes(dir), app.isSpared):
			outcome = foundEnded
		case cgroup.End(dir) != nil: // the loop below may still find its processes by their handle
			outcome = notEnded
		}
	}
	deadline := time.Now().Add(killWait)
	for {
		alive := 0
		for _, p := range procs.List() {
			if p.Zombie || !app.owns(p) {
				continue
			}
			alive++
			kill(p.PID)
		}
		if alive == 0 {
			return outcome
		}
		if time.Now().After(deadline) {
			return notEnded
		}
		time.Sleep(lockPause)
	}
}

// orphans identifies the processes of a dead agent.
type orphans struct {
	handle    string
	leaders   map[int]uint64    // session → start time of its leader
	output    map[string]uint64 // pipe that a replica writes to → the replica's start time
	groups    []string          // folders of control groups
	ungrouped bool              // some attempts have no group
	spared    []procs.Process   // this process and its ancestors
}

// newOrphans uses only plausible records of the current boot: a damaged record could name
// any process.
func newOrphans(handle string, starts []startRecord) orphans {
	app := orphans{handle: handle, leaders: map[int]uint64{}, output: map[string]uint64{}, spared: procs.Ancestors(os.Getpid())}
	boot := BootID()
	for _, start := range starts {
		if start.BootID != boot || start.PID <= 1 || start.StartTime == 0 {
			continue
		}
		if !slices.ContainsFunc(app.spared, func(p procs.Process) bool { return p.Session == start.PID }) {
			app.leaders[start.PID] = start.StartTime
		}
		for _, pipe := range start.Output {
			if strings.HasPrefix(pipe, "pipe:[") {
				app.output[pipe] = start.StartTime
			}
		}
		if start.Cgroup == "" {
			app.ungrouped = true
		} else if !slices.Contains(app.groups, start.Cgroup) {
			app.groups = append(app.groups, start.Cgroup)
		}
	}
	return app
}

// isSpared reports whether a process is init, this process or one of its ancestors.
func (a orphans) isSpared(pid int) bool {
	return pid <= 1 || slices.ContainsFunc(a.spared, func(p procs.Process) bool { return p.PID == pid })
}

// owns reports whether a process belongs to the app. A session counts only if its number
// has not been reused by a new leader since. Without the handle in its environment the
// process must belong to this user.
func (a orphans) owns(p procs.Process) bool {
	if a.isSpared(p.PID) {
		return false
	}
	if procs.HasEnv(p.PID, spec.JobIDVariable+"="+a.handle) {
		return true
	}
	if start, ok := a.leaders[p.Session]; ok {
		leader, alive := procs.Get(p.Session)
		if alive && leader.Start == start || !alive && p.Start >= start {
			return procs.User(p.PID) == os.Geteuid()
		}
	}
	return len(a.output) > 0 && procs.User(p.PID) == os.Geteuid() && procs.HasOpen(p.PID, func(file string) bool {
		start, ok := a.output[file]
		return ok && p.Start >= start
	})
}
