package podarchive

import (
	"testing"

	"torchx/runtime/backend"
)

// TestSlots: slots are given in the order of the requests; one that is left while it waits is not
// given.
func TestSlots(t *testing.T) {
	t.Parallel()
	s := &slots{free: 1}
	var all [4]*slot
	for i := range all {
		all[i] = s.request()
	}
	given := func(want ...bool) {
		t.Helper()
		for i, one := range all {
			if got := !one.waits(); got != want[i] {
				t.Errorf("slot %d: got given %v, want %v", i, got, want[i])
			}
		}
	}
	given(true, false, false, false)
	all[1].leave()
	all[0].leave()
	all[0].leave()
	given(true, false, true, false)
	all[2].leave()
	all[3].leave()
	given(true, false, true, true)
	if one := s.request(); one.waits() {
		t.Error("got a slot that waits after all others were left, want it given")
	}
}

// TestWaitingLogs: of more logs than can be followed, the later ones wait, until others are closed.
func TestWaitingLogs(t *testing.T) {
	t.Parallel()
	for _, tail := range []int64{-1, 1} {
		c := newCluster()
		var logs []backend.WaitingLog
		a := newApp(t, c, t.TempDir())
		a.following = slots{free: 1}
		for i, uid := range []string{"a", "b"} {
			r := run(uid, 0)
			r.Replica.ID = i
			c.add(r, "line\n")
		}
		for id := range 2 {
			replica := worker
			replica.ID = id
			log, err := a.Open(t.Context(), replica, backend.LogOptions{Follow: true, Tail: tail})
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			logs = append(logs, log.(backend.WaitingLog))
		}
		if logs[0].Waits() || !logs[1].Waits() {
			t.Errorf("tail %d: got waits %v, %v, want false, true", tail, logs[0].Waits(), logs[1].Waits())
		}
		if b, err := logs[0].Next(t.Context()); string(b.Data) != "line\n" || err != nil {
			t.Errorf("tail %d: got %q, %v of the first log, want its line", tail, b.Data, err)
		}
		if err := logs[0].Close(); err != nil {
			t.Error(err)
		}
		if logs[1].Waits() {
			t.Errorf("tail %d: got waits true after the first log was closed, want false", tail)
		}
		if b, err := logs[1].Next(t.Context()); string(b.Data) != "line\n" || err != nil {
			t.Errorf("tail %d: got %q, %v of the second log, want its line", tail, b.Data, err)
		}
	}
}
