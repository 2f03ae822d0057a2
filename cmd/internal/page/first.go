package page

import (
	"net/http"
	"strings"
	"time"

	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/ui"
	"torchx/runtime/lazyregexp"
)

// runRow is what the first paint shows of an element of `list --json`.
type runRow struct {
	Handle      string            `json:"handle"`
	AppID       string            `json:"app_id"`
	Name        string            `json:"name"`
	Backend     string            `json:"backend"`
	State       string            `json:"state"`
	Component   string            `json:"component"`
	SubmittedAt *time.Time        `json:"submitted_at"`
	StartedAt   *time.Time        `json:"started_at"`
	FinishedAt  *time.Time        `json:"finished_at"`
	DurationS   *float64          `json:"duration_s"`
	ExitCode    *int              `json:"exit_code"`
	Tags        map[string]string `json:"tags"`
	Note        string            `json:"note"`
}

// runStatus is what the first paint shows of `status --json`.
type runStatus struct {
	Handle      string            `json:"handle"`
	AppID       string            `json:"app_id"`
	Name        string            `json:"name"`
	State       string            `json:"state"`
	Msg         string            `json:"msg"`
	ExitCode    *int              `json:"exit_code"`
	NumRestarts int               `json:"num_restarts"`
	SubmittedAt *time.Time        `json:"submitted_at"`
	StartedAt   *time.Time        `json:"started_at"`
	FinishedAt  *time.Time        `json:"finished_at"`
	Tags        map[string]string `json:"tags"`
	Note        string            `json:"note"`
	Failure     *replicaStatus    `json:"first_failure"`
	Roles       []struct {
		Role     string          `json:"role"`
		Replicas []replicaStatus `json:"replicas"`
	} `json:"roles"`
}

type replicaStatus struct {
	Role       string     `json:"role"`
	Replica    int        `json:"replica"`
	State      string     `json:"state"`
	Attempt    int        `json:"attempt"`
	ExitCode   *int       `json:"exit_code"`
	Signal     string     `json:"signal"`
	Msg        string     `json:"msg"`
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
}

// runs paints the table of runs.
func (s *server) runs(w http.ResponseWriter, r *http.Request) {
	page := &frame{Title: "Runs - torchx"}
	if err := s.calls.Decode(r.Context(), &page.Runs, api.FirstList(r.URL.Query())...); err != nil {
		s.fail(w, api.StatusOf(err), err.Error())
		return
	}
	s.paint(w, http.StatusOK, "runs", page)
}

// firstLines is the number of lines of the log on the first paint.
const firstLines = 100

// run paints the page of a run.
func (s *server) run(w http.ResponseWriter, r *http.Request) {
	handle := api.HandleOf(r)
	page := &frame{Run: &runStatus{}}
	if err := s.calls.Decode(r.Context(), page.Run, "status", "--json", "--", handle); err != nil {
		s.fail(w, api.StatusOf(err), err.Error())
		return
	}
	page.Title = page.Run.AppID + " - torchx"
	if log, err := s.calls.ReadLog(r.Context(), handle, api.LogQuery{Tail: firstLines}); err == nil {
		page.Log = log.Lines
		for i := range page.Log {
			page.Log[i].Line = plain(page.Log[i].Line)
		}
	}
	s.paint(w, http.StatusOK, "run", page)
}

// escapes are sequences that control a terminal.
var escapes = lazyregexp.New(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[^\[\]])`)

// plain returns a line as a terminal would leave it, without colors: what a progress bar showed last.
func plain(line string) string {
	line = escapes().ReplaceAllString(strings.TrimRight(line, "\r"), "")
	return ui.Clean(line[strings.LastIndexByte(line, '\r')+1:], true)
}
