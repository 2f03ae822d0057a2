package spec

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// FailedReplicas returns the failed replicas, the FirstFailure first and the others in
// the order in which they ended.
func (s *Status) FailedReplicas() []ReplicaStatus {
	var failed []ReplicaStatus
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			if r.Role = role.Role; r.State == Failed {
				failed = append(failed, r)
			}
		}
	}
	// The backend saw which one failed first; the clocks of machines may differ.
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
		if c := cmp.Compare(rank(a), rank(b)); c != 0 || a.FinishedAt == nil || b.FinishedAt == nil {
			return c
		}
		return a.FinishedAt.Compare(*b.FinishedAt)
	})
	return failed
}

// ErrorReport is what an error file of torchelastic says.
type ErrorReport struct {
	Message   string
	ExitCode  string    // "" if not given
	Timestamp time.Time // zero if not given
}

// ParseErrorReport reads an error file in either of its two forms, the nested one of
// torchelastic and the flat one; ok is false if data is neither.
func ParseErrorReport(data json.RawMessage) (report ErrorReport, ok bool) {
	data = json.RawMessage(ErrorText(data))
	var nested struct {
		Message *struct {
			Message   *string     `json:"message"`
			ErrorCode json.Number `json:"errorCode"`
			ExtraInfo struct {
				Timestamp json.Number `json:"timestamp"`
			} `json:"extraInfo"`
		} `json:"message"`
	}
	if json.Unmarshal(data, &nested) == nil && nested.Message != nil && nested.Message.Message != nil {
		m := nested.Message
		return ErrorReport{*m.Message, m.ErrorCode.String(), unixTime(m.ExtraInfo.Timestamp)}, true
	}
	var flat struct {
		Message   *string     `json:"message"`
		ErrorCode json.Number `json:"errorCode"`
		Timestamp json.Number `json:"timestamp"`
	}
	if json.Unmarshal(data, &flat) == nil && flat.Message != nil {
		return ErrorReport{*flat.Message, flat.ErrorCode.String(), unixTime(flat.Timestamp)}, true
	}
	return ErrorReport{}, false
}

// ErrorText returns the text of an error file: one that is not JSON is kept as a JSON string.
func ErrorText(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) == nil {
		return s
	}
	return string(data)
}

// unixTime returns the time of whole unix seconds; the zero time for 0 and for no number.
func unixTime(n json.Number) time.Time {
	seconds, err := n.Int64()
	if err != nil {
		f, err := n.Float64()
		if err != nil {
			return time.Time{}
		}
		seconds = int64(f)
	}
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
