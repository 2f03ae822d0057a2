package procs

import (
	"maps"
	"testing"
	"time"
)

func TestTrees(t *testing.T) {
	t.Parallel()
	u := func(n int64) Usage { return Usage{time.Duration(n) * time.Second, n} }
	tracker := NewTracker(0)
	for _, pid := range []int{10, 20, 77} {
		tracker.trees[pid] = &tree{Root: Root{PID: pid}}
	}
	all := map[int]*tracked{}
	for _, s := range []sample{
		{pid: 1, parent: 0, session: 1, usage: u(1000)},
		{pid: 10, parent: 1, session: 10, usage: u(1)},
		{pid: 11, parent: 10, session: 10, usage: u(2)},
		{pid: 12, parent: 11, session: 99, usage: u(4)}, // below 10, in a separate session
		{pid: 13, parent: 1, session: 10, usage: u(8)},  // an orphan of its session
		{pid: 20, parent: 1, session: 20, usage: u(16)}, // another root
		{pid: 21, parent: 22, session: 21, usage: u(32)},
		{pid: 22, parent: 21, session: 21, usage: u(64)}, // a cycle
		{pid: 30, parent: 1, session: 30, usage: u(128)}, // not requested
	} {
		all[s.pid] = &tracked{sample: s}
	}
	got := tracker.usage(all)
	if want := map[int]Usage{10: u(15), 20: u(16)}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
