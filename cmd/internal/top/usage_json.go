package top

import (
	"context"
	"encoding/csv"
	"strconv"
	"time"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
	"torchx/runtime/usage"
)

// usageObject is `usage --json`.
type usageObject struct {
	Handle   string               `json:"handle"`
	AppID    string               `json:"app_id"`
	State    spec.State           `json:"state"`
	Replicas []usageReplicaObject `json:"replicas"`
}

type usageReplicaObject struct {
	Role         string        `json:"role"`
	Replica      int           `json:"replica"`
	Attempt      int           `json:"attempt"`
	State        spec.State    `json:"state"`
	StartedAt    *time.Time    `json:"started_at"`
	FinishedAt   *time.Time    `json:"finished_at"`
	Unknown      ui.NullString `json:"unknown"`
	Seconds      float64       `json:"seconds"`
	MaxRSSSource ui.NullString `json:"max_rss_source"`
	usageAmounts
	Samples []usageSampleObject `json:"samples"`
}

// usageAmounts are what an attempt used, or what it used during the interval of a sample.
type usageAmounts struct {
	MeanCPU      *float64 `json:"mean_cpu_percent"`
	MaxCPU       *float64 `json:"max_cpu_percent"`
	MeanRSS      *int64   `json:"mean_rss_bytes"`
	MaxRSS       *int64   `json:"max_rss_bytes"`
	Read         *int64   `json:"read_bytes"`
	Written      *int64   `json:"written_bytes"`
	MaxThreads   *int     `json:"max_threads"`
	MeanGPU      *float64 `json:"mean_gpu_percent"`
	MaxGPU       *float64 `json:"max_gpu_percent"`
	MaxGPUMemory *int64   `json:"max_gpu_memory_bytes"`
	// MemorySource is how the memory of samples was measured.
	MemorySource ui.NullString `json:"memory_source"`
}

type usageSampleObject struct {
	Time    time.Time `json:"time"`
	Seconds float64   `json:"seconds"`
	usageAmounts
}

func newUsageObject(ref runner.Ref, rec *usage.Record) usageObject {
	o := usageObject{Handle: ref.Handle(), AppID: ref.ID, State: rec.Status.State, Replicas: []usageReplicaObject{}}
	for i := range rec.Attempts {
		a := &rec.Attempts[i]
		s, source := a.Summary()
		one := usageReplicaObject{
			Role: a.Role, Replica: a.ID, Attempt: a.Attempt, State: a.State, StartedAt: ui.UTC(a.StartedAt), FinishedAt: ui.UTC(a.FinishedAt),
			Unknown: ui.NullString(a.Unknown), Seconds: s.Seconds, MaxRSSSource: ui.NullString(source), Samples: []usageSampleObject{},
			usageAmounts: usageAmounts{
				MeanCPU: s.CPUMean, MaxCPU: s.CPUPeak, MeanRSS: s.MemoryMean, MaxRSS: s.MemoryPeak, Read: s.Read, Written: s.Written,
				MaxThreads: s.ThreadsPeak, MeanGPU: s.GPUMean, MaxGPU: s.GPUPeak, MaxGPUMemory: s.GPUMemoryPeak, MemorySource: ui.NullString(s.Source),
			},
		}
		for j := range a.Samples {
			one.Samples = append(one.Samples, newUsageSample(&a.Samples[j]))
		}
		o.Replicas = append(o.Replicas, one)
	}
	return o
}

func newUsageSample(s *sample.Sample) usageSampleObject {
	return usageSampleObject{Time: s.Time.UTC(), Seconds: s.Seconds, usageAmounts: usageAmounts{
		MeanCPU: s.CPUPercent(), MaxCPU: s.CPUPeak, MeanRSS: s.Memory, MaxRSS: s.MemoryPeak, Read: s.Read, Written: s.Written,
		MaxThreads: s.Threads, MeanGPU: s.GPU, MaxGPU: s.GPUPeak, MaxGPUMemory: s.GPUMemory, MemorySource: ui.NullString(s.Source),
	}}
}

// usageColumns are the columns of `usage --csv`, named as in JSON.
var usageColumns = []string{
	"role", "replica", "attempt", "time", "seconds", "mean_cpu_percent", "max_cpu_percent", "mean_rss_bytes", "max_rss_bytes", "read_bytes",
	"written_bytes", "max_threads", "mean_gpu_percent", "max_gpu_percent", "max_gpu_memory_bytes", "memory_source",
}

// printCSV prints a row for each sample; with -t also those that follow, until the app ends.
func (v *usageView) printCSV(ctx context.Context, rec *usage.Record) error {
	w := csv.NewWriter(v.f.Out)
	if err := w.Write(usageColumns); err != nil {
		return err
	}
	type key struct {
		spec.Replica

		attempt int
	}
	printed := map[key]int{}
	for {
		for i := range rec.Attempts {
			a := &rec.Attempts[i]
			k := key{spec.Replica{Role: a.Role, ID: a.ID}, a.Attempt}
			for j := min(printed[k], len(a.Samples)); j < len(a.Samples); j++ {
				if err := w.Write(usageRow(a, &a.Samples[j])); err != nil {
					return err
				}
			}
			printed[k] = len(a.Samples)
		}
		if w.Flush(); w.Error() != nil {
			return w.Error()
		}
		if !v.options.follow || rec.Status.State.Terminal() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(usageInterval):
		}
		var err error
		if rec, err = v.read(ctx); err != nil {
			return err
		}
	}
}

func usageRow(a *usage.Attempt, s *sample.Sample) []string {
	o := newUsageSample(s)
	row := []string{ui.Clean(a.Role, true), strconv.Itoa(a.ID), strconv.Itoa(a.Attempt), apps.TimeText(&o.Time), decimal(&o.Seconds, 3)}
	row = append(row, decimal(o.MeanCPU, 1), decimal(o.MaxCPU, 1))
	for _, n := range []*int64{o.MeanRSS, o.MaxRSS, o.Read, o.Written} {
		row = append(row, whole(n))
	}
	return append(row, whole(o.MaxThreads), decimal(o.MeanGPU, 1), decimal(o.MaxGPU, 1),
		whole(o.MaxGPUMemory), s.Source)
}

func decimal(v *float64, digits int) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}

func whole[T int | int64](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}
