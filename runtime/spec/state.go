package spec

import (
	"encoding/json"
	"fmt"
	"slices"
)

// State is the state of an app or a replica. The numbers are TorchX's.
type State int

// The states; the terminal ones are Succeeded, Failed and Cancelled.
const (
	Unsubmitted State = iota
	Submitted
	Pending
	Running
	Succeeded
	Failed
	Cancelled
	Unknown
)

var stateNames = [...]string{
	"UNSUBMITTED", "SUBMITTED", "PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "UNKNOWN",
}

// String returns the name of the state.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("State(%d)", int(s))
	}
	return stateNames[s]
}

// Terminal reports whether the state is final.
func (s State) Terminal() bool { return s == Succeeded || s == Failed || s == Cancelled }

// Started reports whether the app has run or is running.
func (s State) Started() bool { return s.Terminal() || s == Running }

// ParseState returns the state with an upper-case name.
func ParseState(name string) (State, error) {
	if i := slices.Index(stateNames[:], name); i >= 0 {
		return State(i), nil
	}
	return Unknown, fmt.Errorf("unknown state %q, must be one of %v", name, stateNames)
}

// MarshalJSON writes the state's name.
func (s State) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// UnmarshalJSON reads a state's name.
func (s *State) UnmarshalJSON(data []byte) error {
	var name string
	if err := json.Unmarshal(data, &name); err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	v, err := ParseState(name)
	*s = v
	return err
}
