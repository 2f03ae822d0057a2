package status

import (
	"cmp"
	"encoding/json"
	"time"

	"torchx/cmd/internal/program"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// statusObject is `status --json`; unknown values are null. It has the names of TorchX
// (url, and id and hostaddr of a replica) beside those that all commands share.
type statusObject struct {
	Handle             string          `json:"handle"`
	AppID              string          `json:"app_id"`
	Name               ui.NullString   `json:"name"`
	State              spec.State      `json:"state"`
	NumRestarts        int             `json:"num_restarts"`
	Msg                ui.NullString   `json:"msg"`
	StructuredErrorMsg json.RawMessage `json:"structured_error_msg"`
	UIURL              *string         `json:"ui_url"`
	URL                *string         `json:"url"`
	ExitCode           *int            `json:"exit_code"`
	SubmittedAt        *time.Time      `json:"submitted_at"`
	StartedAt          *time.Time      `json:"started_at"`
	FinishedAt         *time.Time      `json:"finished_at"`
	TimeoutS           *float64        `json:"timeout_s"`
	DeadlineAt         *time.Time      `json:"deadline_at"`
	Roles              []roleObject    `json:"roles"`
	FirstFailure       *replicaObject  `json:"first_failure"`
	LastLines          []string        `json:"last_lines"`
	PastAttempts       []replicaObject `json:"past_attempts"`
	Restarts           []restartObject `json:"restarts"`
	LeftRunning        []string        `json:"left_running"`
	Sweep              *sweepObject    `json:"sweep"`
	apps.OriginObject
}

type roleObject struct {
	Role     string          `json:"role"`
	Replicas []replicaObject `json:"replicas"`
}

type replicaObject struct {
	Role               string          `json:"role"`
	Replica            int             `json:"replica"`
	ID                 int             `json:"id"`
	Attempt            int             `json:"attempt"`
	State              spec.State      `json:"state"`
	ExitCode           *int            `json:"exit_code"`
	Signal             ui.NullString   `json:"signal"`
	Msg                ui.NullString   `json:"msg"`
	StructuredErrorMsg json.RawMessage `json:"structured_error_msg"`
	Hostname           ui.NullString   `json:"hostname"`
	Hostaddr           ui.NullString   `json:"hostaddr"`
	Pod                ui.NullString   `json:"pod"`
	Node               ui.NullString   `json:"node"`
	StartedAt          *time.Time      `json:"started_at"`
	FinishedAt         *time.Time      `json:"finished_at"`
	PID                *int            `json:"pid"`
	Devices            []string        `json:"devices"`
	MaxRSSBytes        *int64          `json:"max_rss_bytes"`
	MaxRSSSource       ui.NullString   `json:"max_rss_source"`
	CPUSeconds         *float64        `json:"cpu_seconds"`
}

type restartObject struct {
	Time       *time.Time       `json:"time"`
	Role       string           `json:"role"`
	Replica    int              `json:"replica"`
	Attempt    int              `json:"attempt"`
	ExitCode   *int             `json:"exit_code"`
	Signal     ui.NullString    `json:"signal"`
	Msg        ui.NullString    `json:"msg"`
	Policy     spec.RetryPolicy `json:"policy"`
	Retry      int              `json:"retry"`
	MaxRetries int              `json:"max_retries"`
	Free       bool             `json:"free"`
}

// newStatusObject joins the status of an app with what was submitted, nil if that is unknown.
func newStatusObject(ref runner.Ref, s *spec.Status, v *history.View) statusObject {
	if v == nil {
		v = &history.View{}
	}
	o := statusObject{
		Handle: ref.Handle(), AppID: ref.ID, Name: ui.NullString(v.Name), State: s.State,
		NumRestarts: s.NumRestarts, Msg: ui.NullString(s.Msg), StructuredErrorMsg: s.StructuredErrorMsg,
		UIURL: s.UIURL, URL: s.UIURL, ExitCode: s.ExitCode,
		SubmittedAt: ui.UTC(cmp.Or(v.SubmittedAt, s.SubmittedAt)), // as `list` has it
		StartedAt:   ui.UTC(s.StartedAt), FinishedAt: ui.UTC(s.FinishedAt),
		Roles: []roleObject{}, LastLines: []string{}, PastAttempts: replicaObjects(s.Past), Restarts: []restartObject{},
		LeftRunning: append([]string{}, s.LeftRunning...), OriginObject: apps.NewOriginObject(&v.App),
	}
	if limit := timeoutOf(v); limit > 0 {
		o.TimeoutS, o.DeadlineAt = new(limit.Seconds()), ui.UTC(deadlineAt(s, limit))
	}
	for _, r := range s.Roles {
		o.Roles = append(o.Roles, roleObject{r.Role, replicaObjects(r.Replicas)})
	}
	if s.FirstFailure != nil {
		o.FirstFailure = new(newReplicaObject(s.FirstFailure))
	}
	for _, r := range s.Restarts {
		o.Restarts = append(o.Restarts, restartObject{
			Time: timeOrNull(r.Time), Role: r.Role, Replica: r.Replica, Attempt: r.Attempt,
			ExitCode: r.ExitCode, Signal: ui.NullString(r.Signal), Msg: ui.NullString(r.Msg),
			Policy: r.Policy, Retry: r.Retry, MaxRetries: r.MaxRetries, Free: r.Free,
		})
	}
	return o
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return ui.UTC(&t)
}

func replicaObjects(replicas []spec.ReplicaStatus) []replicaObject {
	objects := make([]replicaObject, len(replicas))
	for i := range replicas {
		objects[i] = newReplicaObject(&replicas[i])
	}
	return objects
}

func newReplicaObject(r *spec.ReplicaStatus) replicaObject {
	o := replicaObject{
		Role: r.Role, Replica: r.ID, ID: r.ID, Attempt: r.Attempt, State: r.State, ExitCode: r.ExitCode,
		Signal: ui.NullString(r.Signal), Msg: ui.NullString(r.Msg), StructuredErrorMsg: r.StructuredErrorMsg,
		Hostname: ui.NullString(r.Hostname), Hostaddr: ui.NullString(r.Hostname),
		Pod: ui.NullString(r.Pod), Node: ui.NullString(r.Node),
		StartedAt: ui.UTC(r.StartedAt), FinishedAt: ui.UTC(r.FinishedAt),
		Devices: append([]string{}, r.Devices...), MaxRSSBytes: r.MaxRSSBytes,
		MaxRSSSource: ui.NullString(r.MaxRSSSource), CPUSeconds: r.CPUSeconds,
	}
	if r.PID > 0 {
		o.PID = &r.PID
	}
	return o
}

// descriptionObject is `describe --json`, which `submit` reads; unknown values are null.
type descriptionObject struct {
	Handle      string              `json:"handle"`
	AppID       string              `json:"app_id"`
	Name        ui.NullString       `json:"name"`
	SubmittedAt *time.Time          `json:"submitted_at"`
	App         json.RawMessage     `json:"app"`
	Cfg         json.RawMessage     `json:"cfg"`
	Component   ui.NullString       `json:"component"`
	Args        []string            `json:"args"`
	Partial     bool                `json:"partial"`
	After       []string            `json:"after"`
	Provenance  *program.Provenance `json:"provenance"`
	Imported    *backend.Import     `json:"imported"`
	apps.OriginObject
}

func newDescriptionObject(v *history.View, from *backend.Import) descriptionObject {
	o := descriptionObject{
		Handle: v.Handle(), AppID: v.ID, Name: ui.NullString(v.Name), SubmittedAt: ui.UTC(v.SubmittedAt),
		App: v.Spec, Cfg: v.Cfg, Component: ui.NullString(v.Component), Args: v.Args, Partial: v.Partial,
		After:        append([]string{}, v.After()...),
		OriginObject: apps.NewOriginObject(&v.App), Imported: from,
	}
	if v.Recorded {
		o.Provenance = program.ProvenanceOf(&v.Source, v.Checkout)
	}
	if v.Component != "" && o.Args == nil {
		o.Args = []string{}
	}
	return o
}
