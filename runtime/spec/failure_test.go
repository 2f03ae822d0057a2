package spec

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestFailedReplicas(t *testing.T) {
	t.Parallel()
	at := func(s int) *time.Time { u := time.Unix(int64(s), 0); return &u }
	failed := func(id, s int) ReplicaStatus {
		return ReplicaStatus{ID: id, State: Failed, FinishedAt: at(s)}
	}
	unknown := ReplicaStatus{ID: 3, State: Failed}
	first := failed(2, 9) // reported by the backend, regardless of the clocks
	first.Role = "b"
	s := &Status{FirstFailure: &first, Roles: []RoleStatus{
		{Role: "a", Replicas: []ReplicaStatus{failed(0, 5), {ID: 1, State: Cancelled, FinishedAt: at(1)}, failed(2, 3), unknown}},
		{Role: "b", Replicas: []ReplicaStatus{failed(0, 4), {ID: 1, State: Succeeded}, failed(2, 9)}},
	}}
	for want, s := range map[string]*Status{
		"b2 a2 b0 a0 a3": s,
		"a2 b0 a0 b2 a3": {Roles: s.Roles},
		"":               {Roles: []RoleStatus{{Role: "a", Replicas: []ReplicaStatus{{State: Running}}}}},
	} {
		var got []string
		for _, r := range s.FailedReplicas() {
			got = append(got, r.Role+string(rune('0'+r.ID)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

func TestParseErrorReport(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]ErrorReport{
		`{"message":{"message":"boom","errorCode":3,"extraInfo":{"timestamp":"1700000000"}}}`: {"boom", "3", time.Unix(1700000000, 0)},
		`{"message":"boom","errorCode":"3","timestamp":1700000000.5}`:                         {"boom", "3", time.Unix(1700000000, 0)},
		`"{\"message\":\"boom\"}"`:                                                 {Message: "boom"},
		`{"message":"boom","timestamp":"0"}`:                                       {Message: "boom"},
		`{"message":""}`:                                                           {},
		`{"message":{"message":"boom"}}`:                                           {Message: "boom"},
		`{"message":"boom","errorCode":0,"timestamp":1e300}`:                       {Message: "boom"},
		`{"message":"boom","errorCode":"SIGKILL","timestamp":"soon"}`:              {Message: "boom", ExitCode: "SIGKILL"},
		`{"message":{"message":"boom","errorCode":-9,"extraInfo":[]},"other":[1]}`: {Message: "boom", ExitCode: "-9"},
	} {
		got, ok := ParseErrorReport(json.RawMessage(data))
		if !ok || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", data, got, ok, want)
		}
	}
	for _, data := range []string{"", "null", `"plain text"`, `{"message":{}}`, `[1]`, `{"message":{"message":5}}`, `{"message":null}`, `{"error":"x"}`, `{"message":`} {
		if got, ok := ParseErrorReport(json.RawMessage(data)); ok {
			t.Errorf("%q: got %+v, want no report", data, got)
		}
	}
}
