package app

import (
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/failpoint"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// appObject is an app in the JSON of `list` and `prune`; unknown values are null.
type appObject struct {
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

func newAppObject(a *runner.Row) appObject {
	return appObject{
		Handle: a.Handle, AppID: a.AppID, Name: ui.NullString(a.Name), Backend: a.Backend, State: a.State,
		Component: ui.NullString(a.Component), SubmittedAt: ui.UTC(a.SubmittedAt), StartedAt: ui.UTC(a.StartedAt),
		FinishedAt: ui.UTC(a.FinishedAt), ExitCode: a.ExitCode,
	}
}

// listObject is an app in the JSON of `list`.
type listObject struct {
	appObject
	DurationS *float64 `json:"duration_s"`
	originObject
}

func newListObject(a *runner.Row) listObject {
	o := listObject{appObject: newAppObject(a), originObject: newOriginObject(a.Labels, a.ParentRunID, a.RerunOf)}
	if took := a.Duration(failpoint.Now()); took != nil {
		seconds := took.Seconds()
		o.DurationS = &seconds
	}
	return o
}
