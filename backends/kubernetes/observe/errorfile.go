package observe

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// maxMessage is the number of bytes that the kubelet keeps of a termination message: its end.
const maxMessage = 4096

// errorFile returns the error file in a termination message as JSON, nil if it has none.
func errorFile(message string) json.RawMessage {
	text := strings.TrimSpace(message)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	if len(message) >= maxMessage {
		return repairCut(text)
	}
	return rootCause(text)
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

// repairCut rebuilds an error file of torchelastic whose beginning is lost: tail begins
// within the call stack, whose last line is the error.
func repairCut(tail string) json.RawMessage {
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

// Marks in the text that torchrun logs when a worker has failed
// (torch.distributed.elastic.multiprocessing.errors, ChildFailedError).
const (
	rootCauseHead = "Root Cause (first observed failure):"
	rootCauseEnd  = "\n===="
	rootCauseTime = "2006-01-02_15:04:05"
)

// rootCause returns an error file from torchrun's log, nil if it has no root cause.
func rootCause(log string) json.RawMessage {
	_, text, found := strings.Cut(log, rootCauseHead)
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, rootCauseEnd)
	var r report
	info := &r.Message.ExtraInfo
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "time":
			if t, err := time.Parse(rootCauseTime, strings.TrimSpace(value)); err == nil {
				info.Timestamp = fmt.Sprint(t.Unix())
			}
		case "exitcode":
			_, _ = fmt.Sscan(value, &r.Message.ErrorCode) // 0 if it is not a number
		case "traceback":
			_, stack, _ := strings.Cut(text, line)
			info.Callstack = strings.TrimSpace(value + stack)
		}
		if info.Callstack != "" {
			break
		}
	}
	lines := strings.Split(info.Callstack, "\n")
	r.Message.Message = strings.TrimSpace(lines[len(lines)-1])
	if r.Message.Message == "" {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	return data
}
