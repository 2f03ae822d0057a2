package logcopy

import (
	"testing"
	"time"

	"torchx/runtime/logstore"
)

// The offsets of a cursor are exact in both streams, even if the engine writes entries
// of the two streams out of order.
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
		cursor := m.add(st.s, at(st.ms), st.size)
		if cursor == nil {
			continue
		}
		want := [2]int64{}
		for _, e := range steps[:i+1] {
			if at(e.ms).Before(cursor.Since) {
				want[e.s] += int64(e.size)
			}
		}
		if cursor.Offsets != want {
			t.Errorf("cursor at %v has offsets %v, want %v", cursor.Since, cursor.Offsets, want)
		}
	}
	if m.lastCursor.IsZero() {
		t.Error("got no cursor")
	}
}
