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

// TestReplayOrder: the replay of a journal has the same result as the agent's run. The
// start of web is between two exits.
func TestReplayOrder(t *testing.T) {
	t.Parallel()
	m := &Manifest{Lifecycle: Lifecycle{FailFast: true}, App: &spec.App{Name: "app", Roles: []spec.Role{
		role("db", 1, ordered("ready", map[string]any{"port": 80, "timeout": 30}, retries(spec.RetryApplication, 1))), role("web", 1, ordered("depends_on", map[string]any{"db": "ready"}, nil)),
	}}}
	start := func(seq int, role string, attempt int) startRecord {
		return startRecord{Seq: seq, Time: at(int64(-seq)), Role: role, Attempt: attempt, Process: Process{PID: seq}} // the clock runs backwards
	}
	exit := func(seq int, role string, attempt, code int) exitRecord {
		return exitRecord{Seq: seq, Time: at(int64(-seq)), Role: role, Attempt: attempt, Code: code}
	}
	starts := []startRecord{start(1, "db", 0), start(3, "db", 1), start(4, "web", 0)}
	exits := []exitRecord{exit(2, "db", 0, 1), exit(5, "db", 1, 0), exit(6, "web", 0, 0)}
	s := replayResult(m, starts, exits, false, "")
	if s.State != spec.Succeeded || s.Roles[0].Replicas[0].Attempt != 1 || s.Roles[1].Replicas[0].Attempt != 0 {
		t.Errorf("replay: got %v %+v", s.State, s.Roles)
	}
	// The agent died after the final failure of db was recorded.
	m.FailFast = false
	s = replayResult(m, starts[:2], []exitRecord{exits[0], exit(5, "db", 1, 7)}, false, "")
	if web := s.Roles[1].Replicas[0]; s.State != spec.Failed || *s.ExitCode != 7 || web.State != spec.Cancelled || web.Msg == "" {
		t.Errorf("replay: got %v %v %+v", s.State, *s.ExitCode, web)
	}
	// db was ended because it was not ready in time.
	late := exit(5, "db", 1, spec.ExitDeadline)
	late.Msg = "not ready within 30 s (port 80)"
	s = replayResult(m, starts[:2], []exitRecord{exits[0], late}, false, "")
	if db := s.Roles[0].Replicas[0]; *s.ExitCode != spec.ExitDeadline || db.Msg != late.Msg {
		t.Errorf("replay: got %v %+v", *s.ExitCode, db)
	}
}

// The death of the agent while sidecars end changes nothing: the decisive exits are on record.
func TestReplaySidecarsEnd(t *testing.T) {
	t.Parallel()
	roles := []spec.Role{role("store", 1, ordered("sidecar", true, nil)), role("train", 1, nil)}
	m := &Manifest{App: &spec.App{Name: "x", Roles: roles}, Lifecycle: Lifecycle{FailFast: true}}
	start := func(seq int, role string) startRecord {
		return startRecord{Seq: seq, Time: at(1), Role: role, Process: Process{PID: seq}}
	}
	starts := []startRecord{start(1, "store"), start(2, "train")}
	exits := []exitRecord{{Seq: 3, Time: at(2), Role: "train"}, {Seq: 4, Time: at(3), Role: "store", Code: 143, Stopped: true}}
	for n := 1; n <= 2; n++ {
		st := replayResult(m, starts, exits[:n], false, "")
		if store := st.Roles[0].Replicas[0]; st.State != spec.Succeeded || *st.ExitCode != 0 || store.State != spec.Succeeded || store.Msg == "" {
			t.Errorf("replay of %d exits: got %v %v, %+v, want success of both", n, st.State, *st.ExitCode, store)
		}
	}
	if st := replayResult(m, starts, nil, false, ""); st.State != spec.Failed || *st.ExitCode != spec.ExitNotStarted {
		t.Errorf("replay without an exit: got %v %v, want FAILED 125", st.State, *st.ExitCode)
	}
}
