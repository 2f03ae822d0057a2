package agent

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"torchx/runtime/machine"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// fakeMeter is a launcher that only measures.
type fakeMeter struct {
	Launcher

	asked   chan []Running
	reading sample.Reading
	block   bool // until the end of the context
}

func (m *fakeMeter) Measure(ctx context.Context, running []Running) []sample.Reading {
	select {
	case m.asked <- running:
	default:
	}
	if m.block {
		<-ctx.Done()
	}
	readings := make([]sample.Reading, len(running))
	for i := range readings {
		readings[i] = m.reading
	}
	return readings
}

func memory(n int64) sample.Reading { return sample.Reading{Memory: &n, Source: sample.PSS} }

var trainer = spec.Replica{Role: "trainer"}

func samplerOf(t *testing.T, m *fakeMeter) *sampler {
	t.Helper()
	m.asked = make(chan []Running, 1)
	s := newSampler(t.TempDir(), m, log.New(io.Discard, "", 0))
	t.Cleanup(s.close)
	return s
}

// await waits until an attempt has a peak.
func (s *sampler) await(t *testing.T, r spec.Replica) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		m := s.running[r]
		known := m != nil && m.track.Peak > 0
		s.mu.Unlock()
		if known {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("got no reading within a minute")
		}
	}
}

func TestSampler(t *testing.T) {
	t.Parallel()
	s := samplerOf(t, &fakeMeter{reading: memory(100)})
	cpu := 1.5
	if u := s.end(trainer, 0, &Usage{CPU: &cpu}); u.MaxRSS != 0 {
		t.Errorf("an unknown attempt: got %+v", u)
	}
	s.begin(Running{Replica: trainer}, nil, 0)
	s.await(t, trainer)
	if u := s.end(trainer, 1, nil); u != nil {
		t.Errorf("another attempt: got %+v", u)
	}
	if u := s.end(trainer, 0, &Usage{MaxRSS: 60, Source: sample.Process, CPU: &cpu}); u.MaxRSS != 100 || u.Source != sample.Tree || *u.CPU != cpu {
		t.Errorf("got %+v, want the peak of the tree", u)
	}
	for attempt, u := range map[int]Usage{1: {MaxRSS: 130, Source: sample.Process}, 2: {MaxRSS: 60, Source: sample.Cgroup}} {
		s.begin(Running{Replica: trainer, Attempt: attempt}, nil, 0)
		s.await(t, trainer)
		if got := s.end(trainer, attempt, &u); *got != u {
			t.Errorf("got %+v, want what the kernel knows, %+v", got, u)
		}
	}
	s.close()
	if all, err := sample.Read(s.appDir); err != nil || len(all) != 3 {
		t.Errorf("got %+v, %v, want samples of 3 attempts", all, err)
	}
	s.begin(Running{Replica: trainer}, nil, 0) // after the end: nothing happens
}

// TestSamplerResumes measures an attempt that a former agent has measured.
func TestSamplerResumes(t *testing.T) {
	t.Parallel()
	s := samplerOf(t, &fakeMeter{reading: memory(100)})
	most := int64(900)
	if err := sample.NewFile(s.appDir, trainer).Append(sample.Sample{Time: time.Now(), Seconds: 1, MemoryPeak: &most, Source: sample.Cgroup}); err != nil {
		t.Fatal(err)
	}
	s.begin(Running{Replica: trainer}, nil, time.Hour)
	s.await(t, trainer)
	if u := s.end(trainer, 0, nil); u == nil || u.MaxRSS != 900 || u.Source != sample.Cgroup {
		t.Errorf("got %+v, want the peak of the former agent", u)
	}
}

// TestSamplerFails checks that a meter that blocks and a folder that cannot be written stop nothing.
func TestSamplerFails(t *testing.T) {
	t.Parallel()
	m := &fakeMeter{block: true}
	s := samplerOf(t, m)
	s.begin(Running{Replica: trainer}, nil, 0)
	<-m.asked
	s.end(trainer, 0, nil) // does not block
	s.close()
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		t.Error("the goroutine did not end")
	}

	s = samplerOf(t, &fakeMeter{reading: memory(5)})
	if err := os.WriteFile(filepath.Join(s.appDir, "usage"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.begin(Running{Replica: trainer}, nil, 0)
	s.await(t, trainer)
	if u := s.end(trainer, 0, nil); u == nil || u.MaxRSS != 5 {
		t.Errorf("got %+v, want the peak although nothing can be written", u)
	}

	s = samplerOf(t, &fakeMeter{reading: sample.Reading{Err: errors.New("no /proc")}})
	s.begin(Running{Replica: trainer}, nil, 0)
	for deadline := time.Now().Add(time.Minute); sample.Reason(s.appDir) != "no /proc"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got reason %q, want that of the meter", sample.Reason(s.appDir))
		}
	}
	(*sampler)(nil).begin(Running{}, nil, 0)
	(*sampler)(nil).close()
}

func TestGPUs(t *testing.T) {
	t.Parallel()
	mib := func(n int64) *int64 { n <<= 20; return &n }
	percent := func(p float64) *float64 { return &p }
	state := gpuState{
		processes: []machine.GPUProcess{{PID: 7, GPU: "a", Memory: mib(100)}, {PID: 8, GPU: "b", Memory: mib(50)}, {PID: 9, GPU: "b"}},
		loads: []machine.GPULoad{
			{GPU: machine.GPU{ID: "0", UUID: "a"}, Percent: percent(80), Memory: mib(200)},
			{GPU: machine.GPU{ID: "1", UUID: "b"}, Percent: percent(20), Memory: mib(70)},
		},
	}
	for _, test := range []struct {
		name    string
		pids    []int
		devices []string
		percent float64 // -1: unknown
		memory  int64   // MiB; -1: unknown
	}{
		{"by process", []int{7, 8}, nil, 100, 150},
		{"by device", []int{1}, []string{"1"}, 20, 70},
		{"memory of the process unknown", []int{9}, nil, 20, -1},
		{"no GPU", []int{1}, nil, -1, -1},
	} {
		r := sample.Reading{PIDs: test.pids}
		state.addTo(&r, test.devices)
		if got := r.GPU; (got == nil) != (test.percent < 0) || got != nil && *got != test.percent {
			t.Errorf("%s: got %v, want %v percent", test.name, got, test.percent)
		}
		if got := r.GPUMemory; (got == nil) != (test.memory < 0) || got != nil && *got != test.memory<<20 {
			t.Errorf("%s: got %v, want %d MiB", test.name, got, test.memory)
		}
	}
}
