package podarchive

import (
	"slices"
	"sync"
)

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
