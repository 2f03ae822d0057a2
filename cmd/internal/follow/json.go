package follow

import (
	"context"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
)

// startedApp is the JSON of `run --json`: an app that has started or ended. Unknown values are
// null.
type startedApp struct {
	Handle     string        `json:"handle"`
	AppID      string        `json:"app_id"`
	Backend    string        `json:"backend"`
	PageURL    ui.NullString `json:"page_url"`
	State      *spec.State   `json:"state"`
	ExitCode   *int          `json:"exit_code"`
	Msg        ui.NullString `json:"msg"`
	StartedAt  *time.Time    `json:"started_at"`
	FinishedAt *time.Time    `json:"finished_at"`
}

// printJSON prints what the history knows of the app, if that is asked for.
func (fg *foreground) printJSON(ctx context.Context) error {
	if !fg.json {
		return nil
	}
	o := startedApp{
		Handle: fg.ref.Handle(), AppID: fg.ref.ID, Backend: fg.ref.Backend,
		PageURL: ui.NullString(fg.pageURL),
	}
	if s := fg.runner.LastStatus(context.WithoutCancel(ctx), fg.ref); s != nil {
		o.State, o.ExitCode, o.Msg = &s.State, s.ExitCode, ui.NullString(s.Msg)
		o.StartedAt, o.FinishedAt = ui.UTC(s.StartedAt), ui.UTC(s.FinishedAt)
	}
	return fg.PrintJSON(o)
}
