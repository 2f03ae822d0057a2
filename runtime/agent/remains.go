package agent

import (
	"os"
	"time"

	"torchx/runtime/cgroup"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// killWait bounds the wait for killed processes to be gone.
const killWait = 5 * time.Second

// endRemains kills what a dead agent's replicas left: processes of the recorded
// sessions, and whatever carries the app's handle in its environment.
func endRemains(handle string, starts []startRecord) {
	boot := BootID()
	app := remains{handle, map[int]uint64{}, map[string]uint64{}}
	for _, start := range starts {
		if start.BootID != boot {
			continue
		}
		app.leaders[start.PID] = start.StartTime
		for _, pipe := range start.Output {
			app.output[pipe] = start.StartTime
		}
		if start.Cgroup != "" {
			_ = cgroup.End(start.Cgroup) // what stays has the app's handle, too
		}
	}
	deadline := time.Now().Add(killWait)
	for {
		alive := 0
		for _, p := range procs.List() {
			if p.Zombie || p.PID == os.Getpid() || !app.owns(p) {
				continue
			}
			alive++
			kill(p.PID)
		}
		if alive == 0 || time.Now().After(deadline) {
			return
		}
		time.Sleep(lockPause)
	}
}

// remains has what identifies the processes of a dead agent.
type remains struct {
	handle  string
	leaders map[int]uint64    // session → start time of its leader
	output  map[string]uint64 // pipe that a replica writes to → its start time
}

// owns tells whether a process belongs to the app. A session counts only if its number
// has not been given to a new leader since.
func (a remains) owns(p procs.Process) bool {
	if procs.HasEnv(p.PID, spec.JobIDVariable+"="+a.handle) {
		return true
	}
	if start, ok := a.leaders[p.Session]; ok {
		leader, alive := procs.Get(p.Session)
		if alive && leader.Start == start || !alive && p.Start >= start {
			return true
		}
	}
	return len(a.output) > 0 && procs.HasOpen(p.PID, func(file string) bool {
		start, ok := a.output[file]
		return ok && p.Start >= start
	})
}
