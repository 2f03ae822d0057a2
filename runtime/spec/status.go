package spec

import (
	"encoding/json"
	"time"
)

// Replica names one replica of an app: the ID-th (from 0) of a role.
type Replica struct {
	Role string
	ID   int
}

// Status is what is known of an app. Its JSON form is that of files; `torchx status --json`
// has its own.
type Status struct {
	Handle             string          `json:"handle"`
	State              State           `json:"state"`
	NumRestarts        int             `json:"num_restarts"`
	Msg                string          `json:"msg"`
	StructuredErrorMsg json.RawMessage `json:"structured_error_msg"` // the first error file, nil if none
	UIURL              *string         `json:"ui_url"`
	Roles              []RoleStatus    `json:"roles"`

	// ExitCode is the app's own exit code as `torchx run` returns it (128+n for
	// signal n, 125 if it could not be supervised, 130 if cancelled); nil while it runs.
	ExitCode *int `json:"exit_code"`
	// FirstFailure is the replica that failed first for good; nil if none did.
	FirstFailure *ReplicaStatus `json:"first_failure,omitempty"`
	// Past are the attempts that were followed by another, oldest first.
	Past []ReplicaStatus `json:"past_attempts,omitempty"`
	// Restarts are the restarts after failures, oldest first.
	Restarts []Restart `json:"restarts,omitempty"`
	// LeftRunning names the roles of an app that may never end: all others have
	// succeeded, and each of these was waited for to run or to be ready.
	LeftRunning []string   `json:"left_running,omitempty"`
	SubmittedAt *time.Time `json:"submitted_at"`
	StartedAt   *time.Time `json:"started_at"`
	FinishedAt  *time.Time `json:"finished_at"`
}

// RoleStatus groups the replicas of one role.
type RoleStatus struct {
	Role     string          `json:"role"`
	Replicas []ReplicaStatus `json:"replicas"`
}

// ReplicaStatus is what is known of one replica in its last attempt.
type ReplicaStatus struct {
	ID                 int             `json:"id"`
	Role               string          `json:"role"`
	State              State           `json:"state"`
	ExitCode           *int            `json:"exit_code"` // 128+n for signal n; nil while it runs
	Signal             string          `json:"signal,omitempty"`
	Attempt            int             `json:"attempt"` // from 0
	Hostname           string          `json:"hostname"`
	StartedAt          *time.Time      `json:"started_at"`
	FinishedAt         *time.Time      `json:"finished_at"`
	Msg                string          `json:"msg,omitempty"`
	StructuredErrorMsg json.RawMessage `json:"structured_error_msg,omitempty"`
	PID                int             `json:"pid,omitempty"`
	// Devices are those of its machine that no other app has, as CUDA_VISIBLE_DEVICES
	// names them.
	Devices []string `json:"devices,omitempty"`

	// What the attempt used, known once it has ended and where the backend can
	// tell. MaxRSSBytes is the peak resident memory of its largest process (the
	// kernel counts none smaller than the process that started it), CPUSeconds
	// the time of all its processes, user and system.
	MaxRSSBytes *int64   `json:"max_rss_bytes,omitempty"`
	CPUSeconds  *float64 `json:"cpu_seconds,omitempty"`
}

// Replica returns the status of one replica, or nil.
func (s *Status) Replica(r Replica) *ReplicaStatus {
	for i := range s.Roles {
		if s.Roles[i].Role != r.Role {
			continue
		}
		for j := range s.Roles[i].Replicas {
			if s.Roles[i].Replicas[j].ID == r.ID {
				return &s.Roles[i].Replicas[j]
			}
		}
	}
	return nil
}

// Summary is one line of a backend's list.
type Summary struct {
	ID    string // app id within the backend
	Name  string // "" when the backend does not know
	State State
	// Foreign says that another program or another TORCHX_HOME started it.
	Foreign bool
	// What a list tells without a look at each app; nil where it does not, or not yet.
	SubmittedAt, FinishedAt *time.Time
	ExitCode                *int
}
