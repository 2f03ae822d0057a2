package backend

import (
	"sync"

	"torchx/runtime/spec"
)

// Observers see the statuses that a backend reads while it waits for the end of an app or follows
// its logs: the backend calls Notify. The zero value is ready to use.
type Observers struct {
	mu   sync.Mutex
	next int
	of   map[string]map[int]func(*spec.Status) // by app ID
}

// Observe calls see with each status that is read, even if it repeats, until stop is called. It
// reads no status itself. see must not block or change the status.
func (o *Observers) Observe(id string, see func(*spec.Status)) (stop func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[string]map[int]func(*spec.Status){}
	}
	if o.of[id] == nil {
		o.of[id] = map[int]func(*spec.Status){}
	}
	n := o.next
	o.next++
	o.of[id][n] = see
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.of[id], n)
	}
}

// Notify passes a status of an app to its observers, one call at a time.
func (o *Observers) Notify(id string, s *spec.Status) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, see := range o.of[id] {
		see(s)
	}
}
