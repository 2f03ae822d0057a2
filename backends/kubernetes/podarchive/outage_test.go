package podarchive

import (
	"errors"
	"testing"
	"time"

	"torchx/backends/logcopy"
)

// TestOutages: all logs of a node, or of the cluster, wait for it together, and nothing is asked
// again after it was given up; a success ends the outage.
func TestOutages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		spare bool // other nodes are asked
	}{{ErrNodeAway, true}, {ErrServerAway, false}} {
		o := &outages{server: time.Nanosecond, node: time.Nanosecond, now: map[string]outage{}}
		asked := 0
		open := func() (logcopy.Stream, error) { asked++; return nil, c.err }
		_, err := o.retry(t.Context(), "lost", open)
		var unreadable *logcopy.UnreadableError
		if !errors.As(err, &unreadable) || !errors.Is(err, c.err) {
			t.Errorf("got %v, want %v, given up", err, c.err)
		}
		first := asked
		if _, err := o.retry(t.Context(), "lost", open); !errors.Is(err, c.err) || asked != first {
			t.Errorf("got %v after %d more requests, want %v without any", err, asked-first, c.err)
		}
		works := func() (logcopy.Stream, error) { return nil, nil } //nolint:nilnil // the stream is not used
		if _, err := o.retry(t.Context(), "other", works); (err == nil) != c.spare {
			t.Errorf("%v: got %v for another node, want it asked: %v", c.err, err, c.spare)
		}
	}
	o := &outages{server: time.Hour, node: time.Hour, now: map[string]outage{}}
	results := []error{ErrServerAway, ErrNodeAway, nil}
	_, err := o.retry(t.Context(), "back", func() (s logcopy.Stream, err error) {
		err, results = results[0], results[1:]
		return nil, err
	})
	if err != nil || len(results) > 0 || len(o.now) > 0 {
		t.Errorf("got %v, %v left to return, outages %v, want none of them", err, results, o.now)
	}
}
