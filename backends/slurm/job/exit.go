package job

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"torchx/runtime/spec"
)

// Exit is how a process ended. Known is false before that.
type Exit struct {
	Code, Signal int
	Known        bool
}

// UnmarshalJSON reads a wait status (20.11 to 23.02) or an object with a return code and a
// signal.
func (e *Exit) UnmarshalJSON(data []byte) error {
	*e = Exit{}
	var o struct {
		ReturnCode number `json:"return_code"`
		Status     words  `json:"status"`
		Signal     struct {
			ID    number `json:"id"`
			OldID number `json:"signal_id"`
		} `json:"signal"`
		Set *bool `json:"set"`
	}
	if json.Unmarshal(data, &o) == nil && o.Set == nil {
		*e = Exit{Code: int(o.ReturnCode.N), Signal: int(max(o.Signal.ID.N, o.Signal.OldID.N)), Known: o.ReturnCode.Set || o.Signal.ID.Set || o.Signal.OldID.Set}
		if len(o.Status) > 0 && o.Status[0] == statusPending {
			e.Known = false
		}
		return nil
	}
	var n number
	_ = n.UnmarshalJSON(data)
	if n.Set && n.N >= 0 && n.N < noValue {
		*e = waitStatus(n.N)
	}
	return nil
}

// waitStatus reads the form of wait(2).
func waitStatus(n int64) Exit {
	return Exit{Code: int(n >> 8 & 0xff), Signal: int(n & 0x7f), Known: true}
}

// parseExit reads the text CODE:SIGNAL.
func parseExit(text string) Exit {
	code, signal, _ := strings.Cut(text, ":")
	c, err := strconv.Atoi(code)
	s, _ := strconv.Atoi(signal) // none if it is missing
	return Exit{Code: c, Signal: s, Known: err == nil}
}

// failed reports whether the process failed.
func (e Exit) failed() bool { return e.Code != 0 || e.Signal != 0 }

// LacksExit reports whether a job failed without saying how: sacct --json of 22.05 prints the
// exit code 0 for all jobs, and sacct --parsable2 the right one.
func (j *Job) LacksExit() bool { return j.Status == statusFailed && !j.Exit.failed() }

// Code returns the exit code by torchx's convention (128+n for signal n, 124 for a time limit)
// and the name of the signal; nil if the job has not ended.
func (j *Job) Code() (code *int, signal string) {
	n := 0
	switch state := j.State(); {
	case !state.Terminal():
		return nil, ""
	case state == spec.Succeeded:
	case state == spec.Cancelled:
		n = spec.ExitCancelled
	case j.has(statusTimeout), j.has(statusDeadline):
		n = spec.ExitDeadline
	case j.Exit.Signal > 0:
		n = spec.ExitSignal + j.Exit.Signal
	case j.has(statusMemory): // the kernel's way to end a process that needs too much
		n = spec.ExitSignal + sigKill
	default:
		n = cmp.Or(j.Exit.Code, j.Derived.Code, codeUnknown)
	}
	if state := j.State(); state == spec.Failed {
		signal = spec.SignalName(n)
	}
	return &n, signal
}

const (
	codeUnknown = 1 // of a job that failed in an unknown way
	sigKill     = 9
)
