package logcopy

import (
	"testing"
	"time"

	"torchx/runtime/logstore"
)

// A cursor says exactly where in both streams the entries from its time on begin,
// also when the engine writes entries of two streams in another order than their times.
func TestMarker(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(1000 + ms)) }
	type step struct {
		s    logstore.Stream
		ms   int
		size int
	}
	steps := []step{{0, 0, 10}, {0, 50, 10}, {0, 200, 10}, {1, 199, 7}, {1, 201, 7}, {0, 300, 10}, {0, 1250, 10}, {1, 1600, 7}, {0, 2900, 10}}
	var m marker
	for i, st := range steps {
		sure := m.pass(st.s, at(st.ms), st.size)
		if sure == nil {
			continue
		}
		want := [2]int64{}
		for _, p := range steps[:i+1] {
			if at(p.ms).Before(sure.Since) {
				want[p.s] += int64(p.size)
			}
		}
		if sure.Offsets != want {
			t.Errorf("cursor at %v has offsets %v, want %v", sure.Since, sure.Offsets, want)
		}
	}
	if m.ready.IsZero() {
		t.Error("there was no cursor")
	}
}
