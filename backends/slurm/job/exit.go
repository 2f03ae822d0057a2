package job

import (
	"encoding/json"
	"strconv"
	"strings"
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
		// The form of wait(2).
		*e = Exit{Code: int(n.N >> 8 & 0xff), Signal: int(n.N & 0x7f), Known: true}
	}
	return nil
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
