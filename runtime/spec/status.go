package spec

import (
	"encoding/json"
	"strings"
	"time"
)

// Replica identifies one replica of an app: number ID (from 0) of a role.
type Replica struct {
	Role string
	ID   int
}

// Status is the known state of an app. Its JSON form is that of files; `torchx status --json`
// has its own.
type Status struct {
	Handle             string          `json:"handle"`
	State              State           `json:"state"`
	NumRestarts        int             `json:"num_restarts"`
	Msg                string          `json:"msg"`
	StructuredErrorMsg json.RawMessage `json:"structured_error_msg"` // the first error file, nil if none
	UIURL              *string         `json:"ui_url"`
	Roles              []RoleStatus    `json:"roles"`

	// ExitCode is the app's exit code as `torchx run` returns it (128+n for signal n, 125
	// if it could not be supervised, 130 if canceled); nil while it runs.
	ExitCode *int `json:"exit_code"`
	// FirstFailure is the first replica that failed for good; nil if none did.
	FirstFailure *ReplicaStatus `json:"first_failure,omitempty"`
	// Past holds the attempts before the last ones, oldest first.
	Past []ReplicaStatus `json:"past_attempts,omitempty"`
	// Restarts are the restarts after failures, oldest first.
	Restarts []Restart `json:"restarts,omitempty"`
	// LeftRunning names the running roles of an app that may never end: all other roles have
	// succeeded, and others waited for each of these to be started or ready.
	LeftRunning []string `json:"left_running,omitempty"`
	// Waiting means that replicas of an app that has started could start, but do not: Msg says why,
	// if that is known. It is not stored.
	Waiting bool `json:"-"`
	// Blocked says whether what replicas wait for may end by itself. It is not stored.
	Blocked Block `json:"-"`
	// Lost means that the app failed because its supervisor, machine or node was lost: it did
	// not end by itself.
	Lost        bool       `json:"lost,omitempty"`
	SubmittedAt *time.Time `json:"submitted_at"`
	StartedAt   *time.Time `json:"started_at"`
	FinishedAt  *time.Time `json:"finished_at"`
}

// Block is what keeps replicas from starting.
type Block int

// What keeps replicas from starting.
const (
	NotBlocked     Block = iota // they start, or wait for resources
	BlockedByImage              // an image cannot be pulled; the node tries again
	BlockedForGood              // a mistake in the app, such as an invalid name of an image
)

// RoleStatus groups the replicas of one role.
type RoleStatus struct {
	Role     string          `json:"role"`
	Replicas []ReplicaStatus `json:"replicas"`
}

// ReplicaStatus is the known state of a replica in its last attempt.
type ReplicaStatus struct {
	ID       int    `json:"id"`
	Role     string `json:"role"`
	State    State  `json:"state"`
	ExitCode *int   `json:"exit_code"` // 128+n for signal n; nil while it runs
	Signal   string `json:"signal,omitempty"`
	Attempt  int    `json:"attempt"` // from 0
	Hostname string `json:"hostname"`
	// Pod and Node name the pod that runs it and the node of that, if the backend has pods.
	Pod                string          `json:"pod,omitempty"`
	Node               string          `json:"node,omitempty"`
	StartedAt          *time.Time      `json:"started_at"`
	FinishedAt         *time.Time      `json:"finished_at"`
	Msg                string          `json:"msg,omitempty"`
	StructuredErrorMsg json.RawMessage `json:"structured_error_msg,omitempty"`
	PID                int             `json:"pid,omitempty"`
	// Devices are the devices of its machine that it uses exclusively, as in
	// CUDA_VISIBLE_DEVICES.
	Devices []string `json:"devices,omitempty"`

	// Resource usage of the attempt, set once it has ended if the backend measures it.
	// MaxRSSBytes is the peak of its memory as far as it is known, CPUSeconds the user and system
	// time of all its processes.
	MaxRSSBytes *int64   `json:"max_rss_bytes,omitempty"`
	CPUSeconds  *float64 `json:"cpu_seconds,omitempty"`
	// MaxRSSSource is how MaxRSSBytes was measured, a source of package sample. It is "" in records
	// of older versions: the peak of the largest process, or of torchx if that was larger.
	MaxRSSSource string `json:"max_rss_source,omitempty"`
}

// Replica returns the status of a replica, or nil.
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

// QueuedMark begins the message of an app that waits in the queue of this machine.
const QueuedMark = "queued: "

// IsQueued reports whether an app with this state and message waits in a queue of torchx: for
// resources of this machine, or for other apps.
func IsQueued(s State, msg string) bool {
	return s == Pending && (strings.HasPrefix(msg, QueuedMark) || IsAfter(msg))
}

// AfterMark begins the message of an app that waits for the end of others (`run --after`), and the
// step of a submission that does.
const AfterMark = "waits for "

// IsAfter reports whether a message says that an app waits for others: their handles follow.
func IsAfter(msg string) bool {
	rest, isWait := strings.CutPrefix(msg, AfterMark)
	handle, _, _ := strings.Cut(rest, " ")
	return isWait && strings.Contains(handle, "://")
}

// PreparingMark begins the message of a SUBMITTED app, before the step that its submission is at,
// such as "pull alpine:3.20".
const PreparingMark = "preparing: "
