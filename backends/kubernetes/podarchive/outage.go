package podarchive

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"torchx/backends/logcopy"
)

// Errors of Cluster.Open that may be temporary.
var (
	// ErrServerAway: the cluster does not answer.
	ErrServerAway = errors.New("the cluster does not answer")
	// ErrNodeAway: the cluster answers, but the node of the run does not.
	ErrNodeAway = errors.New("the node does not answer")
)

const (
	// firstPause and lastPause are the pauses between requests to what does not answer.
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
	// givenUpTime is how long what did not answer in time is not asked again: the next replicas
	// of a lost node are not waited for.
	givenUpTime = 10 * time.Second
)

// outages are the servers and nodes that do not answer. Logs that are read without following wait
// for them together: one after the other, they would wait for hours. It may be used by several
// goroutines.
type outages struct {
	server, node time.Duration // how long they may be away

	mu  sync.Mutex
	now map[string]outage // by node, "" for the server
}

// outage is the time since when something does not answer.
type outage struct {
	since   time.Time
	givenUp time.Time // zero: not yet
	err     error     // the last one
}

// retry calls open, which reads from a node, until it succeeds, fails by other reasons, or is given
// up with an *UnreadableError.
func (o *outages) retry(
	ctx context.Context, node string, open func() (logcopy.Stream, error),
) (logcopy.Stream, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if err := o.givenUp(node); err != nil {
			return nil, &logcopy.UnreadableError{Err: err}
		}
		s, err := open()
		if !o.note(node, err) {
			return s, err
		}
		if err := logcopy.Sleep(ctx, nil, pause); err != nil {
			return nil, err
		}
	}
}

// givenUp returns why neither the server nor a node is asked now, nil if both are.
func (o *outages) givenUp(node string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, what := range []string{"", node} {
		at := o.now[what]
		if at.givenUp.IsZero() {
			continue
		}
		if time.Since(at.givenUp) < givenUpTime {
			return at.err
		}
		delete(o.now, what)
	}
	return nil
}

// note notes the result of a request and reports whether it shows an outage.
func (o *outages) note(node string, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	what, most := "", o.server
	switch {
	case errors.Is(err, ErrServerAway):
	case errors.Is(err, ErrNodeAway):
		what, most = node, o.node
		delete(o.now, "")
	default:
		delete(o.now, "")
		if err == nil {
			delete(o.now, node)
		}
		return false
	}
	at, known := o.now[what]
	if !known {
		at.since = time.Now()
	}
	at.err = err
	if time.Since(at.since) > most && at.givenUp.IsZero() {
		at.givenUp = time.Now()
	}
	o.now[what] = at
	return true
}

// slots bounds the replicas that are followed at the same time. They are given in the order in
// which they were requested.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting []*slot
}

// slot is a place among the followed replicas, or the wait for one.
type slot struct {
	of    *slots
	given chan struct{} // closed when the replica may be followed
	left  bool
}

// request returns a slot, which the caller leaves.
func (s *slots) request() *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := &slot{of: s, given: make(chan struct{})}
	if s.free == 0 {
		s.waiting = append(s.waiting, one)
		return one
	}
	s.free--
	close(one.given)
	return one
}

// waits reports whether the slot is not given yet.
func (o *slot) waits() bool {
	select {
	case <-o.given:
		return false
	default:
		return true
	}
}

// leave gives the slot to the first that waits. Later calls do nothing.
func (o *slot) leave() {
	s := o.of
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case o.left:
	case o.waits():
		s.waiting = slices.DeleteFunc(s.waiting, func(other *slot) bool { return other == o })
	case len(s.waiting) > 0:
		close(s.waiting[0].given)
		s.waiting = s.waiting[1:]
	default:
		s.free++
	}
	o.left = true
}
