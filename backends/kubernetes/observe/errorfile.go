package observe

import (
	"encoding/json"
	"strings"
)

// maxMessage is what the kubelet keeps of a termination message, in bytes: its end.
const maxMessage = 4096

// errorFile is the error file that a replica left in its termination message as
// JSON; nil if that is something else.
func errorFile(message string) json.RawMessage {
	text := strings.TrimSpace(message)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	if len(message) >= maxMessage {
		return mend(text)
	}
	return nil
}

// report is an error file of torchelastic.
type report struct {
	Message struct {
		Message   string `json:"message"`
		ErrorCode int    `json:"errorCode,omitempty"`
		ExtraInfo struct {
			Callstack string `json:"py_callstack"`
			Timestamp string `json:"timestamp,omitempty"`
		} `json:"extraInfo"`
	} `json:"message"`
}

// mend rebuilds an error file of torchelastic whose beginning is lost: what is left
// begins within the call stack, the last line of which is the error.
func mend(tail string) json.RawMessage {
	for skip := range min(len(tail), 8) { // the cut may be within an escape or a character
		var r report
		if json.Unmarshal([]byte(`{"message":{"message":"","extraInfo":{"py_callstack":"`+tail[skip:]), &r) != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(r.Message.ExtraInfo.Callstack), "\n")
		r.Message.Message = lines[len(lines)-1]
		if data, err := json.Marshal(r); err == nil {
			return data
		}
	}
	return nil
}
