package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	idleReplicas = 100
	idleTime     = 3 * time.Second
	// ticks is the unit of /proc's CPU times, USER_HZ: 100 on every Linux.
	ticks = 100
)

// idle benchmarks an agent whose replicas do nothing.
func (w *environment) idle() []bench {
	idle := w.in("idle")
	line := func(name, goal, floorName string, u unit, torchx, floor func(pid int) (float64, error)) bench {
		return bench{
			name: name, goal: goal, floorName: floorName, runs: 1, unit: u,
			prepare: func() (side, side, error) { return idle.measureAgent(torchx), w.measureFloor(floor), nil },
		}
	}
	return []bench{
		line("idle agent, 100 replicas", "< 15 MB", "a waiting Go program", bytesOfMemory,
			anonymousMemory, anonymousMemory),
		line("its CPU time in 3 s", "< 15 ms", "the same", seconds, cpuTime, cpuTime),
		{
			name: "controller of 10,000 trials", goal: "< 15 MB", floorName: "a waiting Go program", runs: 1, unit: bytesOfMemory,
			prepare: func() (side, side, error) {
				return w.in("controller").measureController, w.measureFloor(anonymousMemory), nil
			},
		},
	}
}

// measureController returns the memory of the supervisor of a sweep.
func (w *environment) measureController() (float64, error) {
	out, err := w.output("exec " + w.bin + " sweep -d --repeat 10000 --parallel 4 utils.sh -- sleep 1000")
	if err != nil {
		return 0, err
	}
	return w.measureHolder(strings.TrimSpace(out), anonymousMemory)
}

// measureAgent returns a figure of the agent of an app with many replicas.
func (w *environment) measureAgent(figure func(pid int) (float64, error)) side {
	return func() (float64, error) {
		handle, err := w.start("-c 'sleep 1000'", idleReplicas, "")
		if err != nil {
			return 0, err
		}
		return w.measureHolder(handle, figure)
	}
}

// measureHolder returns a figure of the supervisor of an app, then deletes the app.
func (w *environment) measureHolder(
	handle string, figure func(pid int) (float64, error),
) (float64, error) {
	text, err := os.ReadFile(filepath.Join(w.home, "apps", filepath.Base(handle), "agent.lock"))
	if err != nil {
		return 0, err
	}
	var holder struct{ PID int }
	if err := json.Unmarshal(text, &holder); err != nil {
		return 0, fmt.Errorf("read the agent's pid in %q: %w", text, err)
	}
	v, err := figure(holder.PID)
	return v, errors.Join(err, w.sh("exec "+w.bin+" delete -f "+handle))
}

// measureFloor returns a figure of a program that waits for EOF.
func (w *environment) measureFloor(figure func(pid int) (float64, error)) side {
	return func() (float64, error) {
		cmd := exec.CommandContext(w.ctx, w.floor(), "wait")
		in, err := cmd.StdinPipe()
		if err != nil {
			return 0, err
		}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		v, err := figure(cmd.Process.Pid)
		return v, errors.Join(err, in.Close(), cmd.Wait())
	}
}

// anonymousMemory returns the private memory of a process, in bytes.
func anonymousMemory(pid int) (float64, error) {
	time.Sleep(idleTime)
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb * 1024, err
		}
	}
	return 0, fmt.Errorf("no Anonymous in smaps_rollup of %d", pid)
}

// cpuTime returns the CPU time of a process during idleTime, in seconds.
func cpuTime(pid int) (float64, error) {
	time.Sleep(idleTime / 3) // until it has started
	before, err := cpuTicks(pid)
	if err != nil {
		return 0, err
	}
	time.Sleep(idleTime)
	after, err := cpuTicks(pid)
	return (after - before) / ticks, err
}

func cpuTicks(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name in parentheses may contain any character; utime and stime are fields 14 and 15.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	user, err := strconv.ParseFloat(fields[11], 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseFloat(fields[12], 64)
	return user + system, err
}
