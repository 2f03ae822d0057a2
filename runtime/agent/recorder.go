package agent

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// recordTimeout bounds the last write to the history. After a timeout the bundle still has
// the result, and the next command repairs the history.
const recordTimeout = 5 * time.Second

// recordPause is the pause before a write to the history. The submitter records the start of an
// app, so an app that ends within it is written once.
const recordPause = 50 * time.Millisecond

// Store is the part of history.Store that an agent needs.
type Store interface {
	SetStatus(ctx context.Context, backend, id string, s *spec.Status) error
	PutCheckpoints(ctx context.Context, backend, id string, points []history.Checkpoint) error
	PutMetrics(ctx context.Context, backend, id string, all []history.Metric) error
	Close() error
}

// History opens a home's history on first use, for a supervisor. If that fails, the next
// use tries again.
type History struct {
	home string
	open StoreOpener

	mu    sync.Mutex
	store Store
}

// NewHistory returns the history of a home.
func NewHistory(home string, open StoreOpener) *History { return &History{home: home, open: open} }

// Store returns the history, opened on first use.
func (h *History) Store(ctx context.Context) (Store, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store == nil {
		store, err := h.open(ctx, h.home)
		if err != nil {
			return nil, fmt.Errorf("open history: %w", err)
		}
		h.store = store
	}
	return h.store, nil
}

// Close closes the history if it is open.
func (h *History) Close(l *log.Logger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store != nil {
		if err := h.store.Close(); err != nil {
			l.Print(err)
		}
		h.store = nil
	}
}

// recorder copies statuses to the history from its own goroutine and skips outdated ones,
// so that a locked database does not delay the app.
type recorder struct {
	history     *History
	backend, id string
	log         *log.Logger

	mu      sync.Mutex
	next    *spec.Status
	points  []history.Checkpoint // not written yet
	metrics []history.Metric     // newer than those written; nil: none
	closed  bool
	wake    chan struct{}
	done    chan struct{}
}

func newRecorder(h *History, backend, id string, l *log.Logger) *recorder {
	r := &recorder{history: h, backend: backend, id: id, log: l, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go r.loop()
	return r
}

func (r *recorder) put(s *spec.Status, points []history.Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = s
	r.points = append(r.points, points...)
	r.notify()
}

// putMetrics records the metrics of the app; they replace earlier ones.
func (r *recorder) putMetrics(all []history.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = all
	r.notify()
}

// notify wakes the loop; the caller holds mu.
func (r *recorder) notify() {
	if r.closed {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close writes the remaining status and checkpoints, within recordTimeout.
func (r *recorder) close() {
	r.mu.Lock()
	r.closed = true
	close(r.wake)
	r.mu.Unlock()
	select {
	case <-r.done:
	case <-time.After(recordTimeout):
		r.log.Print("history was not updated in time; the next command updates it")
	}
}

func (r *recorder) loop() {
	defer close(r.done)
	defer r.history.Close(r.log)
	ctx := context.Background()
	for more := true; more; {
		more = r.await()
		s, points, metrics := r.take()
		if s == nil && metrics == nil {
			continue
		}
		db, err := r.history.Store(ctx)
		if err != nil {
			r.log.Print(err)
		} else if err := r.write(ctx, db, s, points, metrics); err != nil {
			r.log.Printf("record status: %v", err)
		}
	}
}

// await waits for something to record, and for what follows within recordPause. It returns false
// once the recorder is closed.
func (r *recorder) await() bool {
	if _, open := <-r.wake; !open {
		return false
	}
	for pause := time.After(recordPause); ; {
		select {
		case <-pause:
			return true
		case _, open := <-r.wake:
			if !open {
				return false
			}
		}
	}
}

func (r *recorder) take() (*spec.Status, []history.Checkpoint, []history.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, points, metrics := r.next, r.points, r.metrics
	r.next, r.points, r.metrics = nil, nil, nil
	return s, points, metrics
}

func (r *recorder) write(ctx context.Context, db Store, s *spec.Status, points []history.Checkpoint,
	metrics []history.Metric,
) error {
	var err error
	if s != nil {
		err = db.SetStatus(ctx, r.backend, r.id, s)
	}
	if err == nil && len(points) > 0 {
		err = db.PutCheckpoints(ctx, r.backend, r.id, points)
	}
	if len(metrics) > 0 {
		err = errors.Join(err, db.PutMetrics(ctx, r.backend, r.id, metrics))
	}
	return err
}
