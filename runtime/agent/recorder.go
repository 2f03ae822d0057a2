package agent

import (
	"context"
	"log"
	"sync"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// recordTimeout bounds the last write to the history: when it does not succeed,
// the bundle still has the result and the next command that looks repairs the row.
const recordTimeout = 5 * time.Second

// Store is where the agent copies what its bundle says; history.Store has these.
type Store interface {
	SetStatus(ctx context.Context, backend, id string, s *spec.Status) error
	PutCheckpoints(ctx context.Context, backend, id string, points []history.Checkpoint) error
	Close() error
}

// recorder copies statuses to the history from its own goroutine, newest only:
// a locked database never holds up the app.
type recorder struct {
	open        func(context.Context) (Store, error)
	backend, id string
	log         *log.Logger

	mu     sync.Mutex
	next   *spec.Status
	points []history.Checkpoint // all that are not written
	wake   chan struct{}
	done   chan struct{}
}

func newRecorder(open func(context.Context) (Store, error), backend, id string, l *log.Logger) *recorder {
	r := &recorder{open: open, backend: backend, id: id, log: l, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go r.loop()
	return r
}

func (r *recorder) put(s *spec.Status, points []history.Checkpoint) {
	r.mu.Lock()
	r.next = s
	r.points = append(r.points, points...)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close writes what is left, for at most recordTimeout.
func (r *recorder) close() {
	close(r.wake)
	select {
	case <-r.done:
	case <-time.After(recordTimeout):
		r.log.Print("history was not updated in time; the next command will")
	}
}

func (r *recorder) loop() {
	defer close(r.done)
	ctx := context.Background()
	var db Store
	for more := true; more; {
		_, more = <-r.wake
		s, points := r.take()
		if s == nil {
			continue
		}
		if db == nil {
			var err error
			if db, err = r.open(ctx); err != nil {
				r.log.Printf("open history: %v", err)
				continue
			}
			defer db.Close()
		}
		if err := r.write(ctx, db, s, points); err != nil {
			r.log.Printf("record status: %v", err)
		}
	}
}

func (r *recorder) take() (*spec.Status, []history.Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, points := r.next, r.points
	r.next, r.points = nil, nil
	return s, points
}

func (r *recorder) write(ctx context.Context, db Store, s *spec.Status, points []history.Checkpoint) error {
	if err := db.SetStatus(ctx, r.backend, r.id, s); err != nil || len(points) == 0 {
		return err
	}
	return db.PutCheckpoints(ctx, r.backend, r.id, points)
}
