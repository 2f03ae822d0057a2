package history

import (
	"encoding/json"
	"time"

	"torchx/runtime/spec"
)

// AppKey names an app: the canonical name of its backend and its id there.
type AppKey struct{ Backend, ID string }

// Handle returns the app's handle, BACKEND://SESSION/ID.
func (k AppKey) Handle() string {
	return spec.Handle{Backend: k.Backend, Session: spec.Session, AppID: k.ID}.String()
}

// App is the record of one submitted app. JSON texts may be nil.
type App struct {
	AppKey
	Name string
	App  json.RawMessage // the spec.App
	Cfg  json.RawMessage // the backend options
	Source
	Outcome
	Labels
	SubmittedAt time.Time // required
	// Submitter is the process that submits, "pid:starttime:bootid". It tells
	// whether an app that never started may still start.
	Submitter string
}

// Source is what an app was made from. Its JSON form is stored by backends, for a
// history that is lost.
type Source struct {
	Component string          `json:"component,omitempty"` // as the user named it, "" for an edited request
	Args      []string        `json:"args,omitempty"`      // the component's arguments as typed
	Cwd       string          `json:"cwd,omitempty"`       // absolute folder that the command ran in
	Modules   json.RawMessage `json:"modules,omitempty"`   // loaded Starlark modules, with their hashes
	Getenv    json.RawMessage `json:"getenv,omitempty"`    // environment values that the component read
	Request   json.RawMessage `json:"asked,omitempty"`     // the rest of the user's request, such as variables

	ParentRunID string `json:"parent_run_id,omitempty"` // the run that this one belongs to
	RerunOf     string `json:"rerun_of,omitempty"`      // handle of the run that this one repeats
}

// Outcome is how an app was when it was last seen.
type Outcome struct {
	State       spec.State
	Msg         string
	ExitCode    *int // nil: not known (yet)
	NumRestarts int
	StartedAt   *time.Time
	FinishedAt  *time.Time
}

// LiveStates are the states of apps that are not known to have ended.
func LiveStates() []spec.State {
	return []spec.State{spec.Unsubmitted, spec.Submitted, spec.Pending, spec.Running, spec.Unknown}
}

// TerminalStates are the states of apps that have ended.
func TerminalStates() []spec.State {
	return []spec.State{spec.Succeeded, spec.Failed, spec.Cancelled}
}

// EventKind says what an event is about.
type EventKind string

// The kinds of events.
const (
	EventRecorded EventKind = "recorded" // the app's record was made
	EventApp      EventKind = "app"      // the app's state changed
	EventReplica  EventKind = "replica"  // a replica's state or attempt changed
	EventRestart  EventKind = "restart"  // a replica failed, and it, its role or the app starts again
	EventMissing  EventKind = "missing"  // its backend was first seen to have lost the ended app
)

// Event is something that happened to an app.
type Event struct {
	Time     time.Time
	Kind     EventKind
	State    spec.State // of the app or replica after it
	Role     string     // "": the whole app; else one replica's role
	Replica  int
	Attempt  int
	ExitCode *int
	Signal   string
	Msg      string
}

// Checkpoint is a place in one stream of one attempt's log: when the byte at
// Offset arrived, with Line whole lines before it.
type Checkpoint struct {
	Role    string
	Replica int
	Attempt int
	Stream  string // "stdout" or "stderr"
	Time    time.Time
	Line    int64
	Offset  int64 // bytes
}

// Lease says that a replica has a device of this machine to itself for as long as
// its app lives.
type Lease struct {
	App     AppKey
	Device  string // what CUDA_VISIBLE_DEVICES takes
	Role    string
	Replica int
	Since   time.Time
}

// LeaseRequest is the input of Leaser.Lease.
type LeaseRequest struct {
	Own    []Lease  // all of one app
	Others []Lease  // known of other live apps: for a history that was lost since
	Live   []AppKey // every app that lives; leases of others have ended
}

// Tombstone is what is left of an app that was removed, or is being removed.
type Tombstone struct {
	AppKey
	Name        string
	State       spec.State // its last one
	SubmittedAt *time.Time // as the backend said; nil: not known
	FinishedAt  *time.Time // nil: not known

	GoneAt   time.Time
	Command  string          // what removed it, such as "prune"
	KeepLogs bool            // the logs are to be left
	Kept     json.RawMessage // where its logs are, in the caller's format; nil: gone
	// Owner is the process that removes the app, as App.Submitter; "" once it is
	// gone. If that process dies, the next command finishes the removal.
	Owner string
}
