package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// live benchmarks the cost of torchx while an app runs.
func (w *environment) live(s sizes) []bench {
	flood := func(name, goal, program string) bench {
		file := filepath.Join(w.dir, "flood.log")
		return bench{
			name: name, goal: goal, floorName: "the same > file", runs: min(s.runs, 5),
			prepare: func() (side, side, error) { return w.in("flood").floodTorchx(program), w.floodFile(program, file), nil },
		}
	}
	return append([]bench{
		flood("flood of seq", "< 1.3x", fmt.Sprintf("seq -f %%.0f%s %d", strings.Repeat("x", 90), s.log/100)),
		flood("flood of short lines", "< 1.3x", fmt.Sprintf("seq %d", s.log/10)),
		flood("flood of 64 KiB writes", "< 1.5x",
			fmt.Sprintf("dd if=/dev/zero bs=65536 count=%d status=none", s.log>>16)),
		w.latency(s.runs),
	}, w.idle()...)
}

// floodTorchx measures the time of an app, without deleting its log.
func (w *environment) floodTorchx(program string) side {
	return func() (float64, error) {
		start := time.Now()
		handle, err := w.run("-c '"+program+"'", "")
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		return took.Seconds(), w.sh("exec " + w.bin + " delete -f " + handle)
	}
}

func (w *environment) floodFile(program, file string) side {
	return func() (float64, error) {
		took, err := w.command(program + " > " + file)()
		if err != nil {
			return 0, err
		}
		return took, w.sh("rm " + file)
	}
}
