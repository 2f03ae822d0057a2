package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// run is one app of a comparison.
type run struct {
	record  *history.App
	status  *spec.Status
	facts   map[factKey]fact
	metrics map[string]metrics.Summary // by name: of the first replica
	values  []value                    // by comparison.metrics
}

// errNoHistory ends a command that only the history can answer.
var errNoHistory = errors.New("this command needs the history")

// load reads an app. Damaged metrics are only a warning.
func load(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref) (*run, error) {
	if r.History == nil {
		return nil, errNoHistory
	}
	record, err := r.History.Get(ctx, ref.Backend, ref.ID)
	if errors.Is(err, history.ErrNotFound) {
		if _, err := r.Status(ctx, ref); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s was not submitted from this TORCHX_HOME: only its status is known", ref.Handle())
	}
	if err != nil {
		return nil, err
	}
	one := &run{record: &record, metrics: map[string]metrics.Summary{}}
	if one.status, err = status(ctx, r, &record); err != nil {
		return nil, err
	}
	if one.facts, err = factsOf(f, &record); err != nil {
		return nil, err
	}
	return one, one.readMetrics(ctx, f, r)
}

// status returns the recorded status of an app that has ended, else that of its backend.
func status(ctx context.Context, r *runner.Runner, record *history.App) (*spec.Status, error) {
	if record.State.Terminal() {
		if s, err := r.History.Status(ctx, record.Backend, record.ID); err == nil {
			return s, nil
		}
	}
	return r.Status(ctx, record.AppKey)
}

func (r *run) readMetrics(ctx context.Context, f *program.Factory, from *runner.Runner) error {
	folder, err := from.Metrics(ctx, r.record.AppKey)
	if errors.Is(err, backend.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := metrics.Summaries(folder)
	if err != nil {
		f.Warn("metrics of %s: %v", r.record.Handle(), err)
	}
	for _, s := range all { // in the order of roles and replicas
		if _, ok := r.metrics[s.Name]; !ok {
			r.metrics[s.Name] = s
		}
	}
	return nil
}

// duration returns how long the app ran, nil before its start.
func (r *run) duration() *time.Duration {
	s := r.status
	if s.StartedAt == nil {
		return nil
	}
	end := failpoint.Now()
	if s.FinishedAt != nil {
		end = *s.FinishedAt
	}
	d := max(end.Sub(*s.StartedAt), 0)
	return &d
}

// peakMemory returns the greatest peak of a replica in bytes, nil if none is known.
func (r *run) peakMemory() (peak *int64) {
	for i := range r.status.Roles {
		for j := range r.status.Roles[i].Replicas {
			if n := r.status.Roles[i].Replicas[j].MaxRSSBytes; n != nil &&
				(peak == nil || *n > *peak) {
				peak = n
			}
		}
	}
	return peak
}

// cpuSeconds returns the CPU time of all replicas, nil if none is known.
func (r *run) cpuSeconds() (total *float64) {
	for i := range r.status.Roles {
		for j := range r.status.Roles[i].Replicas {
			if n := r.status.Roles[i].Replicas[j].CPUSeconds; n != nil {
				if total == nil {
					total = new(float64)
				}
				*total += *n
			}
		}
	}
	return total
}
