//go:build unix

package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"torchx/runtime/agent"
	"torchx/runtime/cgroup"
	"torchx/runtime/procs"
	"torchx/runtime/sample"
)

var _ agent.Meter = (*launcher)(nil)

// meter is what is needed to measure one container.
type meter struct {
	searched bool
	group    cgroup.Group // zero if this process cannot read it
	last     sample.Reading
	io       procs.IOCounter
}

// maxStats bounds the statistics of a container in bytes.
const maxStats = 1 << 20

// Measure implements agent.Meter. It reads the control groups of containers, which costs the engine
// nothing; those of an engine on another machine only the engine can read.
func (l *launcher) Measure(ctx context.Context, running []agent.Running) []sample.Reading {
	readings := make([]sample.Reading, len(running))
	_ = forEach(len(running), func(i int) error {
		r := l.runs.latest(running[i].Replica)
		if r != nil && r.attempt == running[i].Attempt {
			readings[i] = l.measure(ctx, r)
		}
		return nil // each has its own reading
	})
	return readings
}

func (l *launcher) measure(ctx context.Context, r *run) sample.Reading {
	m := &r.meter
	if !m.searched {
		c, err := l.engine.ContainerInspect(ctx, r.id)
		if err != nil || c.State == nil || c.State.Pid == 0 {
			return sample.Reading{} // it has ended, or the engine is down
		}
		if strings.HasPrefix(l.engine.DaemonHost(), localEngine) {
			m.group, _ = cgroup.Find(c.State.Pid, r.id)
		}
		m.searched = true
	}
	if m.group != (cgroup.Group{}) {
		return m.read()
	}
	reading, err := l.engineStats(ctx, r.id)
	if err != nil && ctx.Err() == nil {
		reading.Err = fmt.Errorf("read statistics of containers: %w", plain(err))
	}
	return reading
}

// read reads the control group. While the container uses no CPU time, nothing else changes.
func (m *meter) read() sample.Reading {
	if cpu := m.group.CPUTime(); cpu != nil && m.last.CPU != nil && *cpu == *m.last.CPU {
		return m.last
	}
	u := m.group.Usage()
	if u.CPU == nil && u.Memory == nil {
		return sample.Reading{} // it has ended
	}
	m.last = sample.Reading{
		CPU: u.CPU, Memory: u.Memory, Peak: u.Peak, Source: sample.Cgroup, Threads: u.Threads, Read: u.Read, Written: u.Written,
		PIDs: m.group.Processes(),
	}
	// The group counts only transfers of devices, and version 1 not those of delayed writes.
	if io, ok := m.io.Count(m.last.PIDs); ok {
		m.last.Read, m.last.Written = &io.Read, &io.Written
	}
	return m.last
}

// engineStats asks the engine once, without waiting for a second reading.
func (l *launcher) engineStats(ctx context.Context, id string) (sample.Reading, error) {
	answer, err := l.engine.ContainerStatsOneShot(ctx, id)
	if err != nil {
		return sample.Reading{}, err
	}
	defer answer.Body.Close()
	var s container.StatsResponse
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxStats)).Decode(&s); err != nil {
		return sample.Reading{}, err
	}
	return statsReading(&s), nil
}

// statsReading converts the statistics of a container. An ended one has none.
func statsReading(s *container.StatsResponse) (r sample.Reading) {
	if s.MemoryStats.Usage == 0 {
		return r
	}
	cpu := time.Duration(s.CPUStats.CPUUsage.TotalUsage)
	memory := int64(s.MemoryStats.Usage)
	for _, name := range []string{"total_inactive_file", "inactive_file"} { // version 1, 2
		if n, ok := s.MemoryStats.Stats[name]; ok {
			memory = max(0, memory-int64(n))
			break
		}
	}
	threads := int(s.PidsStats.Current)
	r = sample.Reading{CPU: &cpu, Memory: &memory, Source: sample.Engine, Threads: &threads}
	if peak := int64(s.MemoryStats.MaxUsage); peak > 0 {
		r.Peak = &peak
	}
	var read, written int64
	for _, e := range s.BlkioStats.IoServiceBytesRecursive {
		switch strings.ToLower(e.Op) {
		case "read":
			read += int64(e.Value)
		case "write":
			written += int64(e.Value)
		}
	}
	r.Read, r.Written = &read, &written
	return r
}
