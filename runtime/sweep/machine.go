package sweep

import (
	"fmt"
	"slices"
	"time"

	"torchx/runtime/spec"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events. The Trial of Halt and Extend has no meaning.
const (
	Launch Kind = "launch" // an app was chosen for the trial; it may be submitted from now on
	Up     Kind = "up"     // its app was submitted
	Refuse Kind = "refuse" // its app was not submitted for lack of room; try again at Until
	Lost   Kind = "lost"   // its app disappeared or was preempted: start it again
	Stop   Kind = "stop"   // its app is stopped, for the reason in Msg
	Drop   Kind = "drop"   // it will not be started
	End    Kind = "end"    // its app ended, or could not be started
	Halt   Kind = "halt"   // no more trials start, and the running ones stop
	Extend Kind = "extend" // Trials more trials follow the last one
)

// Event is what happened to a trial or to the sweep, one line of the journal.
type Event struct {
	Time   time.Time  `json:"time"`
	Kind   Kind       `json:"kind"`
	Trial  int        `json:"trial"`
	App    string     `json:"app,omitempty"`    // ID of the app, of Launch
	State  spec.State `json:"state,omitempty"`  // of End
	Code   *int       `json:"code,omitempty"`   // exit code, of End
	Began  time.Time  `json:"began,omitzero"`   // when the app started, of End
	Value  *float64   `json:"value,omitempty"`  // best value of the sweep's metric, of End
	Step   *int64     `json:"step,omitempty"`   // of Value
	Msg    string     `json:"msg,omitempty"`    // reason of Stop, Halt, Lost, Refuse, End
	Cause  Cause      `json:"cause,omitempty"`  // of Halt
	Until  time.Time  `json:"until,omitzero"`   // of Refuse
	Trials int        `json:"trials,omitempty"` // of Extend
	Failed bool       `json:"failed,omitempty"` // of Extend: also run the trials again that failed or never ran
}

// Cause is why a sweep was halted.
type Cause string

// The causes of Halt.
const (
	ByUser   Cause = "user"   // the sweep was canceled
	ByGoal   Cause = "goal"   // --stop-when was met: what did not run is not needed
	ByFailed Cause = "failed" // a trial failed with --fail-fast
)

// Phase is where a trial is.
type Phase int

// The phases of a trial.
const (
	Waiting Phase = iota
	Starting
	Running
	Stopping
	Ended
)

// maxLost is how often a lost trial is started again.
const maxLost = 5

// TrialState is the state of one trial.
type TrialState struct {
	Phase
	App     string     // ID of the last app, "" if none was launched
	Attempt int        // apps before this one
	Lost    int        // … of which were lost since the sweep was last extended
	Until   time.Time  // while waiting: not before
	Stopped string     // reason of Stop or Drop
	Halted  bool       // stopped or left out because the sweep was halted
	State   spec.State // of an ended trial
	Code    *int       // of an ended trial; nil: unknown
	Msg     string
	Value   *float64  // best value of the sweep's metric, of an ended trial
	Step    *int64    // of Value
	Began   time.Time // when its app started; zero: it has not
	EndedAt time.Time
}

// MachineConfig holds the choices that do not change while a sweep runs.
type MachineConfig struct {
	Trials   int
	Parallel int // trials at the same time, at least 1
	FailFast bool
}

// Machine decides what a sweep does next. It is a pure state machine: events go in, actions come
// out, and it has no clock and no input or output. The controller writes events to a journal before
// it acts on them, so the journal replays to the same state.
//
//	         Launch            Up
//	waiting ────────► starting ────► running ──── Stop ──► stopping
//	   ▲  └── Drop ─┐    │ Refuse       │ Lost                │
//	   └────────────┼────┴──────────────┘                     │
//	                └────────► ended ◄──── End ───────────────┘
type Machine struct {
	cfg    MachineConfig
	trials []TrialState
	alive  int // starting, running or stopping
	ended  int
	first  int   // no trial before it waits
	failed int   // the first trial that failed, -1 if none
	cause  Cause // "" unless halted
	reason string
}

// NewMachine returns a machine with all trials waiting.
func NewMachine(cfg MachineConfig) *Machine {
	cfg.Parallel = max(1, cfg.Parallel)
	return &Machine{cfg: cfg, trials: make([]TrialState, cfg.Trials), failed: -1}
}

// Trials returns the state of all trials. It must not be changed.
func (m *Machine) Trials() []TrialState { return m.trials }

// Halted returns why the sweep was halted, "" if it was not.
func (m *Machine) Halted() (Cause, string) { return m.cause, m.reason }

// Apply changes the state by an event. An event that does not fit, as a damaged journal may have,
// changes nothing and is an error.
func (m *Machine) Apply(e Event) error {
	switch e.Kind {
	case Halt:
		m.halt(e.Cause, e.Msg)
		return nil
	case Extend:
		return m.extend(e)
	}
	if e.Trial < 0 || e.Trial >= len(m.trials) {
		return fmt.Errorf("%s of trial %d: the sweep has %d", e.Kind, e.Trial, len(m.trials))
	}
	t := &m.trials[e.Trial]
	from, known := sources[e.Kind]
	if !known || !slices.Contains(from, t.Phase) {
		return fmt.Errorf("%s of trial %d does not fit its phase %d", e.Kind, e.Trial, t.Phase)
	}
	m.change(t, e)
	return nil
}

// sources lists the phases in which an event may happen.
var sources = map[Kind][]Phase{
	Launch: {Waiting},
	Up:     {Starting},
	Refuse: {Starting},
	Lost:   {Starting, Running, Stopping},
	Stop:   {Starting, Running},
	Drop:   {Waiting},
	End:    {Starting, Running, Stopping},
}

func (m *Machine) change(t *TrialState, e Event) {
	switch e.Kind {
	case Launch:
		t.App, t.Msg, t.Until = e.App, "", time.Time{}
		m.move(t, Starting)
	case Up:
		t.Began = e.Time
		m.move(t, Running)
	case Refuse:
		t.Msg, t.Until = e.Msg, e.Until
		m.move(t, Waiting)
		m.first = min(m.first, e.Trial)
	case Stop:
		t.Stopped, t.Halted = e.Msg, m.cause != ""
		m.move(t, Stopping)
	case Drop:
		t.Stopped, t.Halted = e.Msg, true
		m.end(t, Event{Time: e.Time, Trial: e.Trial, State: spec.Cancelled, Msg: e.Msg})
	case Lost:
		m.lose(t, e)
	case End:
		m.end(t, e)
	}
}

// lose starts a trial again, unless it was to be stopped or was lost too often.
func (m *Machine) lose(t *TrialState, e Event) {
	t.Lost++
	t.Attempt++
	switch {
	case t.Phase == Stopping:
		m.end(t, Event{Time: e.Time, Trial: e.Trial, State: spec.Cancelled, Msg: e.Msg})
	case t.Lost > maxLost:
		m.end(t, Event{Time: e.Time, Trial: e.Trial, State: spec.Failed, Msg: fmt.Sprintf("lost %d times: %s", t.Lost, e.Msg)})
	default:
		t.Msg = e.Msg
		m.move(t, Waiting)
		m.first = min(m.first, e.Trial)
	}
}

func (m *Machine) end(t *TrialState, e Event) {
	t.State, t.Code, t.Msg, t.EndedAt = e.State, e.Code, e.Msg, e.Time
	t.Value, t.Step = e.Value, e.Step
	if !e.Began.IsZero() {
		t.Began = e.Began
	}
	if t.Stopped != "" && e.State == spec.Cancelled {
		t.Msg = t.Stopped
	}
	m.move(t, Ended)
	if !t.failed() || e.State == spec.Cancelled && m.cause != "" {
		return
	}
	if m.failed < 0 {
		m.failed = e.Trial
	}
	if m.cfg.FailFast {
		m.halt(ByFailed, fmt.Sprintf("trial %d failed", e.Trial))
	}
}

func (m *Machine) move(t *TrialState, to Phase) {
	alive := func(p Phase) int {
		if p == Starting || p == Running || p == Stopping {
			return 1
		}
		return 0
	}
	m.alive += alive(to) - alive(t.Phase)
	if to == Ended {
		m.ended++
	}
	t.Phase = to
}

// halt keeps the first cause, but a cancellation by the user overrides others.
func (m *Machine) halt(cause Cause, reason string) {
	if m.cause == "" || cause == ByUser {
		m.cause, m.reason = cause, reason
	}
}

// extend adds trials to a sweep, also to one that has ended. Trials that the halt of the sweep
// left out wait again, and with Failed those that failed.
func (m *Machine) extend(e Event) error {
	again := func(t *TrialState) bool {
		return t.Phase == Ended && t.State != spec.Succeeded && (t.Halted || e.Failed && t.failed())
	}
	if e.Trials < 0 || e.Trials == 0 && !slices.ContainsFunc(m.trials, func(t TrialState) bool { return again(&t) }) {
		return fmt.Errorf("extend by %d trials", e.Trials)
	}
	m.cause, m.reason, m.first, m.failed = "", "", 0, -1
	for i := range m.trials {
		t := &m.trials[i]
		if again(t) {
			*t = TrialState{Attempt: t.Attempt + 1}
			m.ended--
		}
		if t.Phase == Ended && t.failed() &&
			(m.failed < 0 || t.EndedAt.Before(m.trials[m.failed].EndedAt)) {
			m.failed = i
		}
	}
	m.trials = append(m.trials, make([]TrialState, e.Trials)...)
	return nil
}

// failed reports whether a trial that ended did not run to its end as it should.
func (t *TrialState) failed() bool {
	return t.State == spec.Failed || t.State == spec.Cancelled && t.Stopped == ""
}
