package podarchive

import (
	"context"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/logstore"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// Meter is a Cluster that knows what pods use.
type Meter interface {
	// Usage returns a reading of each running pod by its name. The error says in one line why
	// nothing is known.
	Usage(ctx context.Context) (map[string]sample.Reading, error)
}

const (
	// meterEvery is how often clusters measure pods: 15 s by default.
	meterEvery = 10 * time.Second
	// meterRetry is the pause after an error.
	meterRetry = time.Minute
)

// measured is an attempt of a replica that is measured.
type measured struct {
	track *sample.Track
	file  *sample.File
}

// measure appends samples of the running pods to the archive until ctx ends. It is best effort.
func (s *Source) measure(ctx context.Context) {
	meter, ok := s.App.Cluster.(Meter)
	if !ok {
		return
	}
	attempts := map[spec.Replica]*measured{}
	reason := sample.Reason(s.App.Dir)
	for pause := time.Duration(0); ; {
		if logcopy.Sleep(ctx, nil, pause) != nil {
			return
		}
		pods, err := meter.Usage(ctx)
		if ctx.Err() != nil {
			return
		}
		pause = meterEvery
		text := ""
		if err != nil {
			pause, text = meterRetry, err.Error()
		}
		if text != reason && sample.SetReason(s.App.Dir, text) == nil {
			reason = text
		}
		s.App.mu.Lock()
		snap := s.App.snap
		s.App.mu.Unlock()
		s.record(attempts, snap.Runs, pods, time.Now())
	}
}

// record adds the readings of pods to the samples of their replicas.
func (s *Source) record(
	attempts map[spec.Replica]*measured, runs []Run, pods map[string]sample.Reading, now time.Time,
) {
	for i := range runs {
		r := &runs[i]
		reading, ok := pods[r.Pod]
		m := attempts[r.Replica]
		hasEnded := r.State != logcopy.Running
		switch {
		case r.Container != "":
			continue
		case hasEnded && (m == nil || m.track.Attempt != r.Attempt), !hasEnded && !ok:
			continue
		case m == nil:
			m = &measured{file: sample.NewFile(s.App.Dir, r.Replica)}
			attempts[r.Replica] = m
		}
		if m.track == nil || m.track.Attempt < r.Attempt {
			m.track = sample.NewTrack(r.Attempt, now.Add(-meterEvery),
				max(meterEvery, now.Sub(r.Created)))
		}
		if !hasEnded {
			m.track.Add(&reading, now)
		}
		if next, ok := m.track.Take(now, m.file.Size(), hasEnded); ok {
			if err := m.file.Append(next); err != nil {
				s.Log("%v", err)
				return // the disk may be full
			}
		}
	}
}

// MetricsConfig returns how to collect the metrics of an app from its archived logs.
func MetricsConfig(dir string, app *spec.App) collect.Config {
	return collect.Config{
		Dir: dir, App: app, LinesInLog: true,
		Attempts: func() ([]collect.Attempt, error) { return attempts(dir), nil },
		LogDir:   func(r spec.Replica, attempt int) string { return logstore.AttemptDir(dir, r, attempt) },
	}
}

// attempts returns the archived attempts.
func attempts(dir string) (all []collect.Attempt) {
	logs := Retained(dir)
	if logs == nil {
		return nil
	}
	for _, role := range logs.Roles {
		for id, count := range role.Attempts {
			for number := range count {
				all = append(all, collect.Attempt{Replica: spec.Replica{Role: role.Role, ID: id}, Number: number})
			}
		}
	}
	return all
}
