package page

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/ui"
	"torchx/runtime/lazyregexp"
	"torchx/runtime/spec"
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

// What the first paint shows of a run: so many lines of the log, of so many replicas.
const (
	firstLines    = 100
	firstReplicas = 50
)

// run paints the page of a run. With ?all=1 the table has all replicas.
func (s *server) run(w http.ResponseWriter, r *http.Request) {
	handle := api.HandleOf(r)
	page, q := &frame{Run: &runStatus{}}, r.URL.Query()
	var log sync.WaitGroup
	log.Go(func() { page.Log = s.lastLines(r.Context(), handle) })
	err := s.calls.Decode(r.Context(), page.Run, "status", "--json", "--", handle)
	log.Wait()
	if err != nil {
		s.fail(w, api.StatusOf(err), err.Error())
		return
	}
	page.Title = page.Run.AppID + " - torchx"
	if q.Get("all") == "" {
		page.Left = page.Run.shorten(firstReplicas)
		q.Set("all", "1")
		page.All = "?" + q.Encode()
	}
	s.paint(w, http.StatusOK, "run", page)
}

// lastLines returns the end of a log, nil if it cannot be read: the view of the log says why.
func (s *server) lastLines(ctx context.Context, handle string) []api.LogLine {
	log, err := s.calls.ReadLog(ctx, handle, api.LogQuery{Tail: firstLines, Most: firstReplicas})
	if err != nil {
		return nil
	}
	for i := range log.Lines {
		log.Lines[i].Line = plain(log.Lines[i].Line)
	}
	return log.Lines
}

// shorten keeps n replicas, those first that have not succeeded, and returns how many it left out.
func (s *runStatus) shorten(n int) (left int) {
	for _, succeeded := range []bool{false, true} {
		for i := range s.Roles {
			role := &s.Roles[i]
			role.Replicas = slices.DeleteFunc(role.Replicas, func(one replicaStatus) bool {
				if (one.State == spec.Succeeded.String()) != succeeded {
					return false
				}
				n--
				if n < 0 {
					left++
				}
				return n < 0
			})
		}
	}
	return left
}

// escapes are sequences that control a terminal.
var escapes = lazyregexp.New(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[^\[\]])`)

// plain returns a line as a terminal would leave it, without colors: what a progress bar showed last.
func plain(line string) string {
	line = escapes().ReplaceAllString(strings.TrimRight(line, "\r"), "")
	return ui.Clean(line[strings.LastIndexByte(line, '\r')+1:], true)
}
