package spec

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FailedReplicas returns the failed replicas: FirstFailure first, the others in the order in
// which they ended.
func (s *Status) FailedReplicas() []ReplicaStatus {
	var failed []ReplicaStatus
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			if r.Role = role.Role; r.State == Failed {
				failed = append(failed, r)
			}
		}
	}
	// The backend knows which replica failed first; the clocks of machines may differ.
	rank := func(r ReplicaStatus) int {
		switch first := s.FirstFailure; {
		case first != nil && r.Role == first.Role && r.ID == first.ID:
			return 0
		case r.FinishedAt != nil:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(failed, func(a, b ReplicaStatus) int {
		if c := cmp.Compare(rank(a), rank(b)); c != 0 || a.FinishedAt == nil ||
			b.FinishedAt == nil {
			return c
		}
		return a.FinishedAt.Compare(*b.FinishedAt)
	})
	return failed
}

// ErrorReport is the content of a torchelastic error file.
type ErrorReport struct {
	Message   string
	ExitCode  string    // "" if not given
	Timestamp time.Time // zero if not given
}

// ParseErrorReport decodes an error file in torchelastic's nested form or the flat one; ok is
// false if data has neither form.
func ParseErrorReport(data json.RawMessage) (report ErrorReport, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(ErrorText(data)))
	decoder.UseNumber()
	var file map[string]any
	if decoder.Decode(&file) != nil {
		return ErrorReport{}, false
	}
	switch message := file["message"].(type) {
	case string:
		return ErrorReport{message, errorCode(file["errorCode"]), unixTime(file["timestamp"])}, true
	case map[string]any:
		text, ok := message["message"].(string)
		extra, _ := message["extraInfo"].(map[string]any)
		return ErrorReport{text, errorCode(message["errorCode"]), unixTime(extra["timestamp"])}, ok
	}
	return ErrorReport{}, false
}

// errorCode formats an exit code, "" for 0 as in TorchX.
func errorCode(v any) string {
	switch v := v.(type) {
	case json.Number:
		if v != "0" {
			return v.String()
		}
	case string:
		return v
	}
	return ""
}

// ErrorText returns the text of an error file; one that is not JSON is stored as a JSON string.
func ErrorText(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) == nil {
		return s
	}
	return string(data)
}

// unixTime converts unix seconds to a time, without fractions; 0 and anything else give the zero
// time.
func unixTime(v any) time.Time {
	text, _ := v.(string)
	if n, ok := v.(json.Number); ok {
		text = n.String()
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds == 0 || math.Abs(seconds) > maxUnixTime {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// maxUnixTime is the end of the year 9999, the last with four digits.
const maxUnixTime = 253402300799
