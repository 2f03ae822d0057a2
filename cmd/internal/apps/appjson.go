package apps

import (
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
)

// AppObject is an app in the JSON of `list` and `prune`; unknown values are null.
type AppObject struct {
	Handle      string        `json:"handle"`
	AppID       string        `json:"app_id"`
	Name        ui.NullString `json:"name"`
	Backend     string        `json:"backend"`
	State       spec.State    `json:"state"`
	Component   ui.NullString `json:"component"`
	SubmittedAt *time.Time    `json:"submitted_at"`
	StartedAt   *time.Time    `json:"started_at"`
	FinishedAt  *time.Time    `json:"finished_at"`
	ExitCode    *int          `json:"exit_code"`
}

// NewAppObject returns the object of an app.
func NewAppObject(a *history.View) AppObject {
	return AppObject{
		Handle: a.Handle(), AppID: a.ID, Name: ui.NullString(a.Name), Backend: a.Backend, State: a.State,
		Component: ui.NullString(a.Component), SubmittedAt: ui.UTC(a.SubmittedAt), StartedAt: ui.UTC(a.StartedAt),
		FinishedAt: ui.UTC(a.FinishedAt), ExitCode: a.ExitCode,
	}
}

// listObject is an app in the JSON of `list`.
type listObject struct {
	AppObject
	DurationS *float64 `json:"duration_s"`
	OriginObject
	*valuesObject
}

// valuesObject is what --values adds.
type valuesObject struct {
	Arguments map[string]string       `json:"arguments"`
	Metrics   map[string]metricObject `json:"metrics"`
}

// metricObject are the values of a metric; null if not finite.
type metricObject struct {
	Last *float64      `json:"last"`
	Min  *float64      `json:"min"`
	Max  *float64      `json:"max"`
	Goal ui.NullString `json:"goal"`
}

func newValuesObject(a *history.View) *valuesObject {
	o := &valuesObject{Arguments: history.ArgumentValues(a.Args), Metrics: map[string]metricObject{}}
	for name, m := range a.Metrics {
		o.Metrics[name] = metricObject{Last: m[0], Min: m[1], Max: m[2], Goal: ui.NullString(metrics.GoalOf(name))}
	}
	return o
}

func newListObject(a *history.View) listObject {
	o := listObject{AppObject: NewAppObject(a), OriginObject: NewOriginObject(&a.App)}
	if a.Metrics != nil {
		o.valuesObject = newValuesObject(a)
	}
	if took := a.Duration(failpoint.Now()); took != nil {
		seconds := took.Seconds()
		o.DurationS = &seconds
	}
	return o
}

// OriginObject is what --json of several commands has about the origin and the labels of an app.
type OriginObject struct {
	Tags        map[string]string `json:"tags"`
	Note        ui.NullString     `json:"note"`
	ParentRunID ui.NullString     `json:"parent_run_id"`
	RerunOf     ui.NullString     `json:"rerun_of"`
}

// NewOriginObject returns the labels and the origin of an app.
func NewOriginObject(a *history.App) OriginObject {
	tags := a.Tags
	if tags == nil {
		tags = map[string]string{}
	}
	return OriginObject{
		tags, ui.NullString(a.Note), ui.NullString(a.ParentRunID), ui.NullString(a.RerunOf),
	}
}
