// Package sweep holds what a sweep is: one component, run many times with other arguments. A
// sweep is an app; each run is an app, too, its trial.
//
//	Definition, Trial  what to run, stored with the sweep when it is submitted
//	Snapshot           how it stands
//	Space              flags ──► trials, drawn by the trial's number and the seed alone, so that a
//	                   sweep can be continued
//	Machine            events of trials ──► what the sweep does next, see NewMachine
package sweep

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
)

// Role is the only role of a sweep: its replica k is trial k.
const Role = "trial"

// Variables of each trial's replicas, and tags of each trial.
const (
	TrialVariable = "TORCHX_TRIAL" // its number
	SeedVariable  = "TORCHX_SEED"
	SweepTag      = "sweep" // the ID of the sweep
	TrialTag      = "trial" // its number
)

// Definition is what all trials of a sweep share.
type Definition struct {
	Backend string           `json:"backend"` // canonical name of the backend that runs the trials
	Cfg     map[string]any   `json:"cfg"`     // options, resolved
	Env     spec.Map[string] `json:"env,omitempty"`

	DefaultImage string    `json:"default_image,omitempty"`
	Workspace    string    `json:"workspace,omitempty"`
	WorkspaceWhy string    `json:"workspace_why,omitempty"`
	Trackers     []Tracker `json:"trackers,omitempty"`

	Source history.Source `json:"source"` // of the trials, without their arguments
	Rules
}

// Tracker is a config.Tracker.
type Tracker struct{ Name, Config string }

// Rules are how a sweep runs its trials.
type Rules struct {
	Parallel  int          `json:"parallel,omitempty"` // trials at the same time; 0: as many as there is room
	FailFast  bool         `json:"fail_fast,omitempty"`
	Metric    string       `json:"metric,omitempty"`     // by which trials are compared; "": none
	Goal      metrics.Goal `json:"goal,omitempty"`       // of Metric
	EarlyStop string       `json:"early_stop,omitempty"` // see ParseStopRule
	StopWhen  string       `json:"stop_when,omitempty"`  // NAME<NUMBER or NAME>NUMBER
	LogScaled []string     `json:"log_scaled,omitempty"` // arguments that are drawn evenly by the logarithm
}

// Trial is one run.
type Trial struct {
	Place
	App *spec.App `json:"app"` // what the component returned
	// Request replaces that of Definition.Source, so that a rerun of the trial gets its
	// Variables, too.
	Request json.RawMessage `json:"asked,omitempty"`
}

// Variables returns the variables of all replicas of the trial.
func (t *Trial) Variables() spec.Map[string] {
	return spec.Map[string]{
		{Key: TrialVariable, Value: strconv.Itoa(t.Number)},
		{Key: SeedVariable, Value: strconv.FormatInt(t.Seed, 10)},
	}
}

// Plan is what to submit as a sweep.
type Plan struct {
	Definition
	Trials []Trial
}

// Extension is what to add to a sweep.
type Extension struct {
	Trials []Trial // numbered on from the last one
	Failed bool    // run the trials again that failed
	Reopen func()  // called when no supervisor of the sweep runs, before it has another one; nil: nothing to do
}

// App returns the sweep itself as an app.
func (p *Plan) App(name string) *spec.App {
	role := spec.NewRole(Role, spec.None)
	role.Entrypoint, role.NumReplicas = Role, len(p.Trials)
	return &spec.App{Name: name, Roles: []spec.Role{role}, Metadata: map[string]any{}}
}

// Snapshot is how a sweep stands.
type Snapshot struct {
	Definition *Definition
	Counts
	Halted Cause  // why it was ended early, "" if it was not
	Reason string // in words
	Best   int    // trial with the best value, -1 if none has one
	Trials []TrialStatus
}

// TrialStatus is how a trial stands. A trial that waits is PENDING.
type TrialStatus struct {
	Place
	App      history.AppKey // zero: not chosen yet
	State    spec.State
	ExitCode *int
	Stopped  string // why the sweep stopped it, "" if it did not
	Msg      string
	Lost     int // how often it was started again after its app was lost
	// Value is its best value of the sweep's metric, at Step; nil: none is known.
	Value *float64
	Step  *int64

	StartedAt, FinishedAt *time.Time
}

// FindBest sets Best by the values of trials. Values that are not numbers do not count.
func (s *Snapshot) FindBest() {
	s.Best = -1
	for i := range s.Trials {
		v := s.Trials[i].Value
		if v != nil && *v == *v && (s.Best < 0 || s.Definition.Goal.Better(*v, *s.Trials[s.Best].Value)) {
			s.Best = i
		}
	}
}

// Progress describes the counts: "17/60 done, 2 running, 1 failed".
func (s *Snapshot) Progress() string {
	text := fmt.Sprintf("%d/%d done", s.Done, s.Done+s.Alive+s.Waiting)
	for _, part := range []struct {
		n    int
		word string
	}{{s.Alive, "running"}, {s.Failed, "failed"}, {s.Stopped, "stopped"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	return text
}

// Ranked returns the trials with a value of the metric, the best first, then those that failed, and
// the others by number.
func Ranked(s *Snapshot) []int {
	order := make([]int, len(s.Trials))
	for i := range order {
		order[i] = i
	}
	class := func(t *TrialStatus) int {
		switch {
		case t.Value != nil && *t.Value == *t.Value:
			return 0
		case t.State == spec.Failed:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &s.Trials[i], &s.Trials[j]
		if c := cmp.Compare(class(a), class(b)); c != 0 || class(a) > 0 {
			return c
		}
		switch goal := s.Definition.Goal; {
		case goal.Better(*a.Value, *b.Value):
			return -1
		case goal.Better(*b.Value, *a.Value):
			return 1
		}
		return 0
	})
	return order
}
