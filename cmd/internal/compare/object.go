package compare

import (
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
)

// comparisonObject is `compare --json`.
type comparisonObject struct {
	Runs        []runObject        `json:"runs"`
	Differences []differenceObject `json:"differences"`
}

type runObject struct {
	Handle          string         `json:"handle"`
	AppID           string         `json:"app_id"`
	Name            ui.NullString  `json:"name"`
	Backend         string         `json:"backend"`
	Component       ui.NullString  `json:"component"`
	State           spec.State     `json:"state"`
	ExitCode        *int           `json:"exit_code"`
	SubmittedAt     *time.Time     `json:"submitted_at"`
	StartedAt       *time.Time     `json:"started_at"`
	FinishedAt      *time.Time     `json:"finished_at"`
	DurationSeconds *float64       `json:"duration_seconds"`
	NumRestarts     int            `json:"num_restarts"`
	MaxRSSBytes     *int64         `json:"max_rss_bytes"`
	CPUSeconds      *float64       `json:"cpu_seconds"`
	Metrics         []metricObject `json:"metrics"`
}

type metricObject struct {
	Name    string          `json:"name"`
	Role    string          `json:"role"`
	Replica int             `json:"replica"`
	Goal    ui.NullString   `json:"goal"`
	Last    metrics.Number  `json:"last"`
	Best    *metrics.Number `json:"best"`
	IsBest  bool            `json:"is_best"`
}

type differenceObject struct {
	Part   string    `json:"part"`
	Name   string    `json:"name"`
	Values []*string `json:"values"`
}

func newMetricObject(m metric, v value) metricObject {
	o := metricObject{Name: m.name, Role: v.role, Replica: v.replica, Goal: ui.NullString(m.goal), Last: metrics.Number(v.last), IsBest: v.isBest}
	if m.goal != "" {
		o.Best = new(metrics.Number(v.best))
	}
	return o
}

func (c *comparison) object() comparisonObject {
	o := comparisonObject{Runs: []runObject{}, Differences: []differenceObject{}}
	for _, r := range c.runs {
		one := runObject{
			Handle: r.record.Handle(), AppID: r.record.ID, Name: ui.NullString(r.record.Name), Backend: r.record.Backend,
			Component: ui.NullString(r.record.Component), State: r.status.State, ExitCode: r.status.ExitCode,
			SubmittedAt: ui.UTC(r.record.SubmittedAt), StartedAt: ui.UTC(r.status.StartedAt), FinishedAt: ui.UTC(r.status.FinishedAt),
			NumRestarts: r.status.NumRestarts, MaxRSSBytes: r.peakMemory(), CPUSeconds: r.cpuSeconds(), Metrics: []metricObject{},
		}
		if d := r.duration(); d != nil {
			seconds := d.Seconds()
			one.DurationSeconds = &seconds
		}
		for i, v := range r.values {
			if v.known {
				one.Metrics = append(one.Metrics, newMetricObject(c.metrics[i], v))
			}
		}
		o.Runs = append(o.Runs, one)
	}
	for _, d := range c.differences {
		o.Differences = append(o.Differences,
			differenceObject{parts[d.key.part], d.key.name, d.shown})
	}
	return o
}
