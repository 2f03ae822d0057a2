package procs

import (
	"maps"
	"testing"
	"time"
)

func TestTrees(t *testing.T) {
	t.Parallel()
	u := func(n int64) Usage { return Usage{time.Duration(n) * time.Second, n} }
	all := []sample{
		{1, 0, 1, u(1000)},
		{10, 1, 10, u(1)},
		{11, 10, 10, u(2)},
		{12, 11, 99, u(4)}, // below 10, in a separate session
		{13, 1, 10, u(8)},  // an orphan of its session
		{20, 1, 20, u(16)}, // another root
		{21, 22, 21, u(32)},
		{22, 21, 21, u(64)}, // a cycle
		{30, 1, 30, u(128)}, // not requested
	}
	got := trees(all, []int{10, 20, 77})
	if want := map[int]Usage{10: u(15), 20: u(16)}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
