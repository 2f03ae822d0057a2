package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	stampInterval = 5 * time.Millisecond
	stampLines    = 400
)

// latency benchmarks the time of a line from the replica's write to the follower's output,
// at the 99th percentile.
func (w *environment) latency(runs int) bench {
	return bench{
		name: "log -t, p99 of a line", goal: "< 20 ms", floorName: "tail -f of a file", runs: min(runs, 3),
		prepare: func() (side, side, error) {
			self, err := os.Executable()
			return w.in("latency").followLatency(self), w.tailLatency(self), err
		},
	}
}

// stamps prints the time every stampInterval. It is the replica of latency.
func stamps(out io.Writer) error {
	for range stampLines {
		time.Sleep(stampInterval)
		if _, err := fmt.Fprintln(out, time.Now().UnixNano()); err != nil {
			return err
		}
	}
	return nil
}

func (w *environment) followLatency(self string) side {
	return func() (float64, error) {
		handle, err := w.start("-c '"+self+" -stamps'", 1, "")
		if err != nil {
			return 0, err
		}
		return w.lateness("exec " + w.bin + " log -t " + handle + "/sh/0")
	}
}

func (w *environment) tailLatency(self string) side {
	return func() (float64, error) {
		file := filepath.Join(w.dir, "stamps")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return 0, err
		}
		writer := w.cmd("exec " + self + " -stamps >> " + file)
		if err := writer.Start(); err != nil {
			return 0, err
		}
		v, err := w.lateness("exec tail -n +1 -f " + file)
		return v, errors.Join(err, writer.Wait())
	}
}

// lateness reads the times that a command prints and returns the 99th percentile of their
// age when they are read, in seconds.
func (w *environment) lateness(script string) (float64, error) {
	cmd := w.cmd(script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ages, err := readStamps(out)
	if err = errors.Join(err, cmd.Process.Kill()); err != nil { // tail does not end
		return 0, err
	}
	_ = cmd.Wait() // killed
	slices.Sort(ages)
	return ages[len(ages)*99/100], nil
}

// readStamps returns the ages of times, without those printed before it started.
func readStamps(in io.Reader) (ages []float64, err error) {
	start := time.Now()
	lines := 0
	for s := bufio.NewScanner(in); s.Scan(); {
		now := time.Now()
		ns, err := strconv.ParseInt(strings.TrimSpace(s.Text()), 10, 64)
		if err != nil {
			return nil, err
		}
		if at := time.Unix(0, ns); at.After(start.Add(100 * time.Millisecond)) {
			ages = append(ages, now.Sub(at).Seconds())
		}
		if lines++; lines == stampLines {
			break
		}
	}
	if len(ages) < stampLines/2 {
		return nil, fmt.Errorf("got only %d of %d lines after the reader started",
			len(ages), stampLines)
	}
	return ages, nil
}
