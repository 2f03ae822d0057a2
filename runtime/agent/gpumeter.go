package agent

import (
	"context"
	"os/exec"
	"slices"
	"sync"
	"time"

	"torchx/runtime/machine"
	"torchx/runtime/sample"
)

const (
	// gpuPart bounds the time that queries of GPUs take: they start a program.
	gpuPart = 50
	// gpuRetry is the pause after a query that failed.
	gpuRetry = time.Minute
	// gpuMaxAge is how long the result of a query is used.
	gpuMaxAge = 90 * time.Second
)

// GPUMeter asks the driver for all replicas together what they do on GPUs. A query runs in its own
// goroutine, at most one at a time: a hanging driver must not stop the other readings.
type GPUMeter struct {
	mu      sync.Mutex
	missing bool      // this machine has no nvidia-smi
	next    time.Time // of a query
	running bool      // a query
	state   gpuState  // of the last query
}

// gpuState is the result of a query.
type gpuState struct {
	at        time.Time
	processes []machine.GPUProcess
	loads     []machine.GPULoad
	err       error
}

// add adds to the readings of attempts what they do on GPUs.
func (g *GPUMeter) add(all []*measured, readings []sample.Reading) {
	for i := range min(len(all), len(readings)) {
		g.Add(&readings[i], all[i].devices)
	}
}

// Add adds to the reading of an attempt what it does on GPUs, of which devices belong to it alone.
func (g *GPUMeter) Add(r *sample.Reading, devices []string) {
	if state := g.current(time.Now()); state.err == nil && !state.at.IsZero() &&
		time.Since(state.at) <= gpuMaxAge {
		state.addTo(r, devices)
	}
}

// current returns the last result. If it is time, it starts the next query.
func (g *GPUMeter) current(now time.Time) gpuState {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.missing || g.running || now.Before(g.next) {
		return g.state
	}
	if _, err := exec.LookPath("nvidia-smi"); err != nil {
		g.missing = true
		return g.state
	}
	g.running = true
	go g.query()
	return g.state
}

// query asks for the processes first.
func (g *GPUMeter) query() {
	began := time.Now()
	ctx := context.Background() // queries have a deadline
	var s gpuState
	if s.processes, s.err = machine.GPUProcesses(ctx); s.err == nil {
		s.loads, s.err = machine.GPULoads(ctx)
	}
	s.at = time.Now()
	pause := min(gpuPart*s.at.Sub(began), gpuRetry)
	if s.err != nil {
		pause = gpuRetry
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state, g.running, g.next = s, false, s.at.Add(pause)
}

// addTo adds what a replica does: its processes, and the GPUs that they use or that belong to it
// alone. The memory of such a GPU counts if the driver does not know that of processes, as in
// some containers.
func (s *gpuState) addTo(r *sample.Reading, devices []string) {
	used := map[string]bool{}
	var memory, device int64
	known, deviceKnown := false, false
	for _, p := range s.processes {
		if !slices.Contains(r.PIDs, p.PID) {
			continue
		}
		used[p.GPU] = true
		if p.Memory != nil {
			memory, known = memory+*p.Memory, true
		}
	}
	var percent float64
	busy := false
	for _, l := range s.loads {
		own := slices.Contains(devices, l.ID) || slices.Contains(devices, l.UUID)
		if !own && !used[l.UUID] {
			continue
		}
		if l.Percent != nil {
			percent, busy = percent+*l.Percent, true
		}
		if own && l.Memory != nil {
			device, deviceKnown = device+*l.Memory, true
		}
	}
	if busy {
		r.GPU = &percent
	}
	switch {
	case known:
		r.GPUMemory = &memory
	case deviceKnown:
		r.GPUMemory = &device
	}
}
