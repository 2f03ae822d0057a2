package archive

import (
	"context"
	"sync"
)

// Replay is an app on its cluster that somebody watches already, who puts in what is seen.
type Replay struct {
	Cluster // opens logs

	mu      sync.Mutex
	last    *Snapshot
	changed chan struct{}
}

// NewReplay begins with what was seen first.
func NewReplay(c Cluster, first *Snapshot) *Replay {
	return &Replay{Cluster: c, last: first, changed: make(chan struct{})}
}

// Put is for what is seen next.
func (r *Replay) Put(s *Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = s
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Replay) newest() (*Snapshot, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.changed
}

// Look implements Cluster.
func (r *Replay) Look(context.Context) (*Snapshot, error) {
	s, _ := r.newest()
	return s, nil
}

// Watch implements Cluster.
func (r *Replay) Watch(ctx context.Context, see func(*Snapshot)) error {
	for {
		s, changed := r.newest()
		if see(s); s.Status.State.Terminal() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
