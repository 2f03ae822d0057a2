//go:build unix

package agent

import (
	"testing"
	"time"

	"torchx/runtime/spec"
)

func at(sec int64) time.Time { return time.Unix(sec, 0) }

func started(replica, attempt int) startRecord {
	return startRecord{Time: at(1), Role: "a", Replica: replica, Attempt: attempt, Process: Process{PID: 10 + replica}}
}

func ended(replica, attempt, code int) exitRecord {
	return exitRecord{Time: at(2), Role: "a", Replica: replica, Attempt: attempt, Code: code}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	stoppedExit := ended(1, 0, 143)
	stoppedExit.Stopped = true
	tests := []struct {
		name      string
		starts    []startRecord
		exits     []exitRecord
		cancelled bool
		role      func(*spec.Role)
		state     spec.State
		code      int
	}{
		{"all succeeded", []startRecord{started(0, 0), started(1, 0)}, []exitRecord{ended(0, 0, 0), ended(1, 0, 0)}, false, nil, spec.Succeeded, 0},
		{"start not on record", nil, []exitRecord{ended(0, 0, 0), ended(1, 0, 0)}, false, nil, spec.Succeeded, 0},
		{"one was still running", []startRecord{started(0, 0), started(1, 0)}, []exitRecord{ended(0, 0, 0)}, false, nil, spec.Failed, 125},
		{"nothing on record", nil, nil, false, nil, spec.Failed, 125},
		{"failure on record", []startRecord{started(0, 0), started(1, 0)}, []exitRecord{ended(0, 0, 3)}, false, nil, spec.Failed, 3},
		{"failure and stop on record", []startRecord{started(0, 0), started(1, 0)}, []exitRecord{ended(0, 0, 3), stoppedExit}, false, nil, spec.Failed, 3},
		{"cancelled while running", []startRecord{started(0, 0), started(1, 0)}, nil, true, nil, spec.Cancelled, 130},
		{"canceled after the end", nil, []exitRecord{ended(0, 0, 0), ended(1, 0, 0)}, true, nil, spec.Succeeded, 0},
		{"died during back-off", []startRecord{started(0, 0), started(1, 0)}, []exitRecord{ended(1, 0, 0), ended(0, 0, 1)}, false, retries(spec.RetryReplica, 1), spec.Failed, 125},
		{"retried and succeeded", []startRecord{started(0, 0), started(1, 0), started(0, 1)}, []exitRecord{ended(1, 0, 0), ended(0, 0, 1), ended(0, 1, 0)}, false, retries(spec.RetryReplica, 1), spec.Succeeded, 0},
		{"elastic, one left running", []startRecord{started(0, 0), started(1, 0)}, []exitRecord{ended(0, 0, 0)}, false, elastic(1, nil), spec.Failed, 125},
		{"refused", []startRecord{started(0, 0)}, []exitRecord{{Time: at(2), Role: "a", Replica: 1, Code: 127, Msg: "not found", Refused: true}}, false, nil, spec.Failed, 127},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := &Manifest{ID: "x", App: &spec.App{Name: "x", Roles: []spec.Role{role("a", 2, test.role)}}, Lifecycle: Lifecycle{FailFast: true}}
			s := replayResult(m, test.starts, test.exits, test.cancelled, "")
			if s.State != test.state || s.ExitCode == nil || *s.ExitCode != test.code {
				t.Errorf("got %v %v, want %v %d", s.State, s.ExitCode, test.state, test.code)
			}
			for _, r := range s.Roles[0].Replicas {
				if !r.State.Terminal() {
					t.Errorf("replica %d: got state %v, want a terminal one", r.ID, r.State)
				}
			}
		})
	}
}

// The reason for killing a replica is in the journal and in the status.
func TestReplayKillReason(t *testing.T) {
	t.Parallel()
	killed := ended(0, 0, 137)
	killed.Signal, killed.Msg = "SIGKILL", "killed because it used more than its 512 MB"
	m := &Manifest{App: &spec.App{Roles: []spec.Role{role("a", 1, nil)}}, Lifecycle: Lifecycle{FailFast: true}}
	s := replayResult(m, []startRecord{started(0, 0)}, []exitRecord{killed}, false, "")
	if want := "replica a/0 failed first: killed because it used more than its 512 MB"; s.Msg != want {
		t.Errorf("got message %q, want %q", s.Msg, want)
	}
	if got := s.Replica(spec.Replica{Role: "a"}).Msg; got != killed.Msg || *s.ExitCode != 137 {
		t.Errorf("got replica message %q, exit code %d, want %q, 137", got, *s.ExitCode, killed.Msg)
	}
}
