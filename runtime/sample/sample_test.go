package sample

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

var replica = spec.Replica{Role: "trainer", ID: 3}

// reading returns a reading with known CPU seconds and memory.
func reading(cpu float64, memory int64) *Reading {
	return &Reading{CPU: new(time.Duration(cpu * float64(time.Second))), Memory: &memory, Source: PSS, Read: new(memory * 2), Threads: new(4)}
}

func TestTrack(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	k := NewTrack(2, start, 0)
	k.Add(reading(0.1, 100), at(0.1))
	if _, ok := k.Take(at(0.1), 0, false); ok {
		t.Error("got a sample after 0.1 s, want one each second")
	}
	k.Add(&Reading{Err: os.ErrPermission}, at(0.5))
	k.Add(reading(0.1, 400), at(1)) // idle since 0.1 s
	k.Add(reading(0, 200), at(1))   // the same moment, a step back
	s, ok := k.Take(at(1), 0, false)
	if !ok || s.Attempt != 2 || s.Seconds != 1 || *s.CPUSeconds != 0.1 || *s.CPUPeak != 100 || *s.Memory != 370 || *s.MemoryPeak != 400 || *s.Read != 800 || *s.Threads != 4 {
		t.Errorf("got %+v, %v", s, ok)
	}
	if k.Peak != 400 || k.Source != Tree {
		t.Errorf("got a peak of %d by %s, want 400 by %s", k.Peak, k.Source, Tree)
	}
	k.Add(&Reading{Memory: new(int64(10)), Source: Cgroup, Peak: new(int64(5000))}, at(1.3))
	if k.Peak != 5000 || k.Source != Cgroup {
		t.Errorf("got a peak of %d by %s, want that of the kernel", k.Peak, k.Source)
	}
	if s, ok = k.Take(at(1.3), 0, true); !ok || s.CPUSeconds != nil || *s.Memory != 10 {
		t.Errorf("last sample: got %+v, %v", s, ok)
	}
	adopted := NewTrack(0, start, time.Hour)
	adopted.Add(reading(1000, 1), at(1))
	if s, _ := adopted.Take(at(1), 0, true); s.CPUSeconds != nil {
		t.Errorf("got %v CPU seconds since an unknown time, want none", *s.CPUSeconds)
	}
}

// TestYear records a year, and an app that restarts each minute for ten days.
func TestYear(t *testing.T) {
	t.Parallel()
	const year, most = 365 * 24 * time.Hour, 1 << 20
	dir := t.TempDir()
	now := time.Now()
	run := func(f *File, attempt int, length time.Duration) (samples int) {
		k := NewTrack(attempt, now, 0)
		for end := now.Add(length); now.Before(end); {
			now = now.Add(MeasureEvery(k.Age(now)))
			k.Add(&Reading{
				CPU: new(time.Duration(1 << 50)), Memory: new(int64(1 << 40)), Source: Metrics, Read: new(int64(1 << 50)), Written: new(int64(1 << 50)),
				Threads: new(1000), GPU: new(99.9), GPUMemory: new(int64(1 << 36)),
			}, now)
			if s, ok := k.Take(now, f.Size(), false); ok {
				samples++
				if err := f.Append(s); err != nil {
					t.Fatal(err)
				}
			}
		}
		return samples
	}
	f := NewFile(dir, replica)
	if n := run(f, 0, year); n < 1000 || f.Size() > most {
		t.Errorf("a year: got %d samples in %d bytes, want at least 1000 in %d", n, f.Size(), most)
	}
	f = NewFile(dir, spec.Replica{Role: "r"})
	for i := range 10 * 24 * 60 {
		run(f, i, time.Minute)
	}
	if info, err := os.Stat(path(dir, f.replica)); err != nil || info.Size() > most {
		t.Errorf("restarts: got %v, %v, want at most %d bytes", info.Size(), err, most)
	}
}

func TestFirstMinute(t *testing.T) {
	t.Parallel()
	k, now, n := NewTrack(0, time.Now(), 0), time.Now(), 0
	for k.Age(now) < time.Minute {
		now = now.Add(MeasureEvery(k.Age(now)))
		k.Add(reading(1, 1), now)
		if _, ok := k.Take(now, 0, false); ok {
			n++
		}
	}
	if n < 58 || n > 61 {
		t.Errorf("got %d samples in the first minute, want one each second", n)
	}
}

// TestDamagedFile reads a file that another agent continues after a write was cut short.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if all, err := Read(dir); len(all) > 0 || err != nil {
		t.Errorf("without samples: got %v, %v", all, err)
	}
	when := time.UnixMilli(1e12)
	one := Sample{Time: when, Attempt: 1, Seconds: 1, Memory: new(int64(5)), CPUSeconds: new(0.5), GPU: new(12.3), Source: RSS}
	two := one
	two.Attempt = 2
	for range 2 {
		f := NewFile(dir, replica)
		if err := f.Append(one, two); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path(dir, replica), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString("00000000 {\"t\":1,\"d\":1}\n\x00\x00\n1234 half"); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	all, err := Read(dir)
	if err != nil || len(all) != 2 || len(all[0].Samples) != 2 {
		t.Fatalf("got %+v, %v, want the samples of both writers by attempt", all, err)
	}
	s := all[0].Samples[0]
	if all[0].Replica != replica || all[0].Attempt != 1 || all[1].Attempt != 2 || !s.Time.Equal(when) || *s.CPUPercent() != 50 || *s.GPU != 12.3 || s.Source != RSS {
		t.Errorf("got %+v", all)
	}
	if got := ReadReplica(dir, replica, 2); len(got) != 2 {
		t.Errorf("attempt 2: got %d samples, want 2", len(got))
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a*[b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"../x", strings.Repeat("é", 300), "a-1", "."} {
		if err := NewFile(dir, spec.Replica{Role: role, ID: 1}).Append(Sample{Seconds: 1}); err != nil {
			t.Errorf("role %q: %v", role, err)
		}
	}
	if all, err := Read(dir); len(all) != 4 || err != nil {
		t.Errorf("got %v, %v, want 4 roles", all, err)
	}
	if err := SetReason(dir, "no cluster"); err != nil || Reason(dir) != "no cluster" {
		t.Errorf("got %q, %v", Reason(dir), err)
	}
	if err := SetReason(dir, ""); err != nil || Reason(dir) != "" {
		t.Errorf("got %q, %v, want no reason", Reason(dir), err)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	sum := Summarize([]Sample{
		{Seconds: 1, CPUSeconds: new(1.0), CPUPeak: new(150.0), Memory: new(int64(100)), MemoryPeak: new(int64(120)), Source: PSS},
		{Seconds: 3, CPUSeconds: new(0.0), CPUPeak: new(0.0), Memory: new(int64(300)), MemoryPeak: new(int64(300)), Written: new(int64(7)), Source: PSS},
	})
	if sum.Seconds != 4 || *sum.CPUMean != 25 || *sum.CPUPeak != 150 || *sum.MemoryMean != 250 || *sum.MemoryPeak != 300 || *sum.Written != 7 || sum.Read != nil || sum.GPUMean != nil {
		t.Errorf("got %+v", sum)
	}
}
