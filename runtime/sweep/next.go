package sweep

import (
	"time"

	"torchx/runtime/spec"
)

// Action is what the controller has to do. It writes the event to the journal first and
// applies it, then acts.
type Action struct {
	Kind  Kind // Launch, Stop or Drop
	Trial int
	Msg   string
}

// Next returns what to do now. Without actions, the machine waits for events, or until wake if
// that is not zero.
func (m *Machine) Next(now time.Time) (actions []Action, wake time.Time) {
	if m.cause != "" {
		return m.halting(), time.Time{}
	}
	room := m.cfg.Parallel - m.alive
	isFirst := true
	for i := m.first; i < len(m.trials) && room > 0; i++ {
		t := &m.trials[i]
		if t.Phase != Waiting {
			continue
		}
		if isFirst {
			m.first, isFirst = i, false
		}
		if t.Until.After(now) {
			// There is no room for others either.
			return actions, t.Until
		}
		actions = append(actions, Action{Kind: Launch, Trial: i})
		room--
	}
	return actions, time.Time{}
}

func (m *Machine) halting() (actions []Action) {
	for i := range m.trials {
		switch m.trials[i].Phase {
		case Waiting:
			actions = append(actions, Action{Drop, i, m.reason})
		case Starting, Running:
			actions = append(actions, Action{Stop, i, m.reason})
		}
	}
	return actions
}

// Done reports whether all trials have ended.
func (m *Machine) Done() bool { return m.ended == len(m.trials) }

// Result returns the outcome of a sweep that is Done. Trials that an early stop or a met goal
// ended are not failures. Code is that of the first trial that failed, nil if unknown.
func (m *Machine) Result() (state spec.State, code *int, failed int) {
	switch {
	case m.cause == ByUser:
		return spec.Cancelled, nil, -1
	case m.failed >= 0:
		return spec.Failed, m.trials[m.failed].Code, m.failed
	}
	return spec.Succeeded, new(0), -1
}

// Counts are the numbers of trials by phase.
type Counts struct {
	Waiting, Alive, Done int
	Failed, Stopped      int // of those done
}

// Count counts the trials.
func (m *Machine) Count() Counts {
	c := Counts{Alive: m.alive, Done: m.ended, Waiting: len(m.trials) - m.alive - m.ended}
	for i := range m.trials {
		switch t := &m.trials[i]; {
		case t.Phase != Ended:
		case t.State == spec.Failed:
			c.Failed++
		case t.Stopped != "":
			c.Stopped++
		}
	}
	return c
}
