package history

import (
	"cmp"
	"encoding/json"
	"time"

	"torchx/runtime/spec"
)

// Imported is the backend of records that came from other homes. They are shown, and never acted on.
const Imported = "imported"

// AppKey identifies an app: the canonical name of its backend and its ID there.
type AppKey struct{ Backend, ID string }

// Handle returns the app's handle, BACKEND://SESSION/ID.
func (k AppKey) Handle() string {
	return spec.Handle{Backend: k.Backend, Session: spec.Session, AppID: k.ID}.String()
}

// App is the record of one submitted app. JSON texts may be nil.
type App struct {
	AppKey
	Name string
	Spec json.RawMessage // spec.App
	Cfg  json.RawMessage // backend options
	Source
	Outcome
	Labels
	Checkout    *Checkout  // nil: not known, or no checkout
	SubmittedAt *time.Time // required
	SortValue   *float64   // of Filter.SortMetric, only in its List; nil: NaN
	// Metrics are the last, least and greatest value of the main series of each name, nil for
	// what is not finite. The map is nil without Filter.Values.
	Metrics map[string][3]*float64
	// Submitter is the submitting process, "pid:starttime:bootid". It tells whether an app
	// that has not started may still start.
	Submitter string
}

// View is what is known of an app now: its record, or as much of one as its backend provides.
// Unknown texts are "", unknown times and codes nil.
type View struct {
	App
	Recorded bool // the history has the app
	Foreign  bool // started by another program or TORCHX_HOME
	Partial  bool // Spec has only what the backend reports
}

// Update applies the current status of the app.
func (v *View) Update(s *spec.Status) {
	v.Outcome = Outcome{s.State, s.Msg, s.ExitCode, s.NumRestarts, s.StartedAt, s.FinishedAt}
	if v.SubmittedAt == nil {
		v.SubmittedAt = s.SubmittedAt
	}
}

// Duration returns how long the app ran, or has been running; nil if that is not known.
func (v *View) Duration(now time.Time) *time.Duration {
	if v.StartedAt == nil || v.FinishedAt == nil && v.State != spec.Running {
		return nil
	}
	return new(max(0, cmp.Or(v.FinishedAt, &now).Sub(*v.StartedAt)))
}

// Source describes how an app was created. Backends store its JSON form, to restore a lost
// history.
type Source struct {
	Component string          `json:"component,omitempty"` // as named by the user, "" for an edited request
	Args      []string        `json:"args,omitempty"`      // the component's arguments as typed
	Cwd       string          `json:"cwd,omitempty"`       // absolute working folder of the command
	Modules   json.RawMessage `json:"modules,omitempty"`   // loaded Starlark modules, with their hashes
	Getenv    json.RawMessage `json:"getenv,omitempty"`    // environment values that the component read
	Request   json.RawMessage `json:"asked,omitempty"`     // other parts of the user's request, such as variables

	ParentRunID string `json:"parent_run_id,omitempty"` // the run that this one belongs to
	RerunOf     string `json:"rerun_of,omitempty"`      // handle of the run that this one repeats
	Submission
}

// After returns the apps that must end before the app starts, each as HANDLE:ok or HANDLE:any.
func (s *Source) After() []string {
	var of struct {
		After []string `json:"after"`
	}
	_ = json.Unmarshal(s.Request, &of) // absent or damaged: none is known
	return of.After
}

// Outcome is the last known state and result of an app.
type Outcome struct {
	State       spec.State
	Msg         string // why it is in this state; "" for no particular reason
	ExitCode    *int   // nil: unknown
	NumRestarts int
	StartedAt   *time.Time
	FinishedAt  *time.Time
}

// LiveStates returns the states of apps that are not known to have ended.
func LiveStates() []spec.State {
	return []spec.State{spec.Unsubmitted, spec.Submitted, spec.Pending, spec.Running, spec.Unknown}
}

// TerminalStates returns the states of apps that have ended.
func TerminalStates() []spec.State {
	return []spec.State{spec.Succeeded, spec.Failed, spec.Cancelled}
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	EventRecorded EventKind = "recorded" // the app was recorded
	EventApp      EventKind = "app"      // the app's state changed
	EventReplica  EventKind = "replica"  // a replica's state or attempt changed
	EventRestart  EventKind = "restart"  // a replica failed, and it, its role or the app restarts
	EventOnEnd    EventKind = "on_end"   // what was to run at the end of the app; not stored in the history
	EventBackend  EventKind = "backend"  // recorded by the system of the backend, such as events of pods; not stored
	EventMissing  EventKind = "missing"  // the backend was found to have lost the ended app
)

// Event is a change of an app.
type Event struct {
	Time     time.Time  `json:"time"`
	Kind     EventKind  `json:"kind"`
	State    spec.State `json:"state"` // of the app or replica after the change
	Role     string     `json:"role"`  // role of the replica; "": the whole app
	Replica  int        `json:"replica"`
	Attempt  int        `json:"attempt"`
	ExitCode *int       `json:"exit_code"`
	Signal   string     `json:"signal"`
	Msg      string     `json:"msg"`
}

// Checkpoint is a position in one stream of one attempt's log: the arrival of the byte at
// Offset, after Line complete lines.
type Checkpoint struct {
	Role    string
	Replica int
	Attempt int
	Stream  string // "stdout" or "stderr"
	Time    time.Time
	Line    int64
	Offset  int64 // bytes
}

// Metric is the summary of a series of numbers that a replica has reported.
type Metric struct {
	Role                  string
	Replica               int
	Name                  string
	Source                string
	Count, NonFinite      int64
	First, Last, Min, Max float64 // Min and Max are of finite values; NaN: none
	LastStep              *int64  // nil: without steps
	// Main marks the series of a name that represents the app: one for each name.
	Main bool
}

// Lease gives a replica exclusive use of a device of this machine for as long as its app
// lives.
type Lease struct {
	App     AppKey
	Device  string // as in CUDA_VISIBLE_DEVICES
	Role    string
	Replica int
	Since   time.Time
}

// LeaseRequest is the input of Leaser.Lease.
type LeaseRequest struct {
	Own    []Lease  // all leases of one app
	Others []Lease  // known leases of other live apps, in case the history was lost
	Live   []AppKey // all live apps; leases of other apps have ended
}

// Tombstone is the record of an app that was removed, or is being removed.
type Tombstone struct {
	AppKey
	Name        string
	State       spec.State // last state
	SubmittedAt *time.Time // as reported by the backend; nil: unknown
	FinishedAt  *time.Time // nil: unknown

	RemovedAt time.Time
	Command   string          // command that removed it, such as "prune"
	KeepLogs  bool            // whether the logs are kept
	Kept      json.RawMessage // where its logs are, in the caller's format; nil: deleted
	// Owner is the process that removes the app, like App.Submitter; "" once the removal
	// has finished. If that process dies, the next command finishes the removal.
	Owner string
}
