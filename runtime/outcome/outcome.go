// Package outcome says how an app ended, in the same words on every backend: which replica failed
// first, and what of its attempts a status keeps. It is pure: facts go in, text and times come out.
package outcome

import (
	"encoding/json"
	"fmt"
	"time"

	"torchx/runtime/spec"
)

// maxPast bounds the past attempts and restarts in a status; the history has all of them.
const maxPast = 1000

// Newest returns the last of the past attempts or restarts, as many as a status has.
func Newest[T any](past []T) []T { return past[max(0, len(past)-maxPast):] }

// Name returns the name of a replica in the message of an app: "replica trainer/0".
func Name(r *spec.ReplicaStatus) string { return fmt.Sprintf("replica %s/%d", r.Role, r.ID) }

// FailedFirst begins the message of an app whose replica r failed first and had started.
func FailedFirst(r *spec.ReplicaStatus) string { return Name(r) + " failed first" }

// Message returns the message of an app whose replica r failed first.
func Message(r *spec.ReplicaStatus) string {
	switch {
	case r.Msg != "" && r.StartedAt == nil && r.ExitCode != nil:
		return Name(r) + " could not start: " + r.Msg
	case r.Msg != "":
		return FailedFirst(r) + ": " + r.Msg
	case r.Signal != "":
		return FailedFirst(r) + " with signal " + r.Signal
	case r.ExitCode != nil:
		return fmt.Sprintf("%s with exit code %d", FailedFirst(r), *r.ExitCode)
	}
	return FailedFirst(r)
}

// ErrorFile returns the error file of the replica that ended first and has one, nil if none has.
func ErrorFile(s *spec.Status) json.RawMessage {
	var first *spec.ReplicaStatus
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			r := &s.Roles[i].Replicas[j]
			if r.StructuredErrorMsg != nil && (first == nil || CompareTimes(r.FinishedAt, first.FinishedAt) < 0) {
				first = r
			}
		}
	}
	if first == nil {
		return nil
	}
	return first.StructuredErrorMsg
}

// CompareTimes compares times; nil sorts last.
func CompareTimes(a, b *time.Time) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(*b)
}

// Earlier returns the earlier of two times, the known one if the other is nil.
func Earlier(a, b *time.Time) *time.Time {
	if CompareTimes(b, a) < 0 {
		return b
	}
	return a
}

// Later returns the later of two times, the known one if the other is nil.
func Later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}
