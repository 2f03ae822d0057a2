package onend

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/logview"
	"torchx/runtime/spec"
)

// summary is the body of a POST.
type summary struct {
	Text         string     `json:"text"` // one line, which chat services show
	Handle       string     `json:"handle"`
	AppID        string     `json:"app_id"`
	State        spec.State `json:"state"`
	ExitCode     *int       `json:"exit_code"`
	Msg          *string    `json:"msg"`
	DurationS    float64    `json:"duration_s"`
	NumRestarts  int        `json:"num_restarts"`
	Component    string     `json:"component"` // with its arguments
	SubmittedAt  *time.Time `json:"submitted_at"`
	StartedAt    *time.Time `json:"started_at"`
	FinishedAt   *time.Time `json:"finished_at"`
	FirstFailure *failure   `json:"first_failure"`
}

// failure is the replica that failed first.
type failure struct {
	Role     string  `json:"role"`
	Replica  int     `json:"replica"`
	Attempt  int     `json:"attempt"`
	ExitCode *int    `json:"exit_code"`
	Signal   *string `json:"signal"`
	Msg      *string `json:"msg"`
	// LastLines are those of logview.LastLines; [] if they are not on this machine.
	LastLines []string `json:"last_lines"`
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// json returns the summary with secrets hidden.
func (p *performer) json() ([]byte, error) {
	s := &p.end.Status
	sum := summary{
		Text: p.line(), Handle: s.Handle, State: s.State, ExitCode: s.ExitCode, Msg: textOrNull(s.Msg), DurationS: p.duration().Seconds(),
		NumRestarts: s.NumRestarts, Component: p.end.Command, SubmittedAt: s.SubmittedAt, StartedAt: s.StartedAt, FinishedAt: s.FinishedAt,
	}
	if h, err := spec.ParseHandle(s.Handle); err == nil {
		sum.AppID = h.AppID
	}
	if f := s.FirstFailure; f != nil {
		sum.FirstFailure = &failure{f.Role, f.ID, f.Attempt, f.ExitCode, textOrNull(f.Signal), textOrNull(f.Msg), append([]string{}, p.lastLines()...)}
	}
	data, err := json.Marshal(sum)
	if err != nil {
		return nil, err
	}
	return p.rules.JSON(data)
}

// line returns the summary in one line: "HANDLE FAILED with exit code 3 after 2h: MESSAGE".
func (p *performer) line() string {
	s := &p.end.Status
	text := s.Handle + " " + s.State.String()
	if s.ExitCode != nil && *s.ExitCode != 0 {
		text += fmt.Sprintf(" with exit code %d", *s.ExitCode)
	}
	if s.StartedAt != nil {
		text += " after " + durationText(p.duration())
	}
	if s.State == spec.Failed && s.Msg != "" {
		text += ": " + s.Msg
	}
	return p.rules.Text(text)
}

// text returns the summary for the stdin of a command, one fact a line, secrets hidden.
func (p *performer) text() string {
	s := &p.end.Status
	var b strings.Builder
	add := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", label, strings.Join(strings.Fields(p.rules.Text(value)), " "))
		}
	}
	addTime := func(label string, t *time.Time) {
		if t != nil {
			add(label, t.Local().Format(time.RFC3339))
		}
	}
	add("app", s.Handle)
	add("component", p.end.Command)
	add("state", s.State.String())
	if s.ExitCode != nil {
		add("exit code", fmt.Sprint(*s.ExitCode))
	}
	add("message", s.Msg)
	addTime("submitted", s.SubmittedAt)
	addTime("started", s.StartedAt)
	addTime("ended", s.FinishedAt)
	if s.StartedAt != nil {
		add("duration", durationText(p.duration()))
	}
	if s.NumRestarts > 0 {
		add("restarts", fmt.Sprint(s.NumRestarts))
	}
	add("output", "torchx log "+s.Handle)
	for _, line := range p.lastLines() {
		b.WriteString("  " + p.rules.Text(line) + "\n")
	}
	return b.String()
}

// lastLines returns the last lines of the replica that failed first, nil if they cannot be read.
func (p *performer) lastLines() []string {
	f := p.end.Status.FirstFailure
	if f == nil || p.end.Status.State != spec.Failed {
		return nil
	}
	source := logstore.Source{
		Dir: func(attempt int) string {
			return logstore.AttemptDir(filepath.Dir(p.dir), spec.Replica{Role: f.Role, ID: f.ID}, attempt)
		},
		State: func() (int, bool, error) { return f.Attempt + 1, true, nil },
	}
	log, err := logstore.Open(source, backend.LogOptions{Tail: logview.Tail, Attempt: &f.Attempt})
	if err != nil {
		return nil
	}
	defer log.Close()
	lines, _ := logview.LastLines(context.Background(), log) // the summary is complete without them
	return lines
}
