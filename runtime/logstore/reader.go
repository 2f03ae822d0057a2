package logstore

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"torchx/runtime/backend"
)

// Source describes where a replica's logs are.
type Source struct {
	// Dir returns the folder of an attempt; it need not exist.
	Dir func(attempt int) string
	// State returns how many attempts have started and whether the app is terminal and its
	// logs are complete. Following calls it often.
	State func() (attempts int, done bool, err error)
	// Watch lists folders and files whose changes may change State, so that the end is
	// noticed immediately; without it within 250 ms.
	Watch []string
	// Hub is shared by many readers; nil: the reader has its own.
	Hub *Hub
}

// reader reads one replica's log; see Open.
type reader struct {
	src    Source
	o      backend.LogOptions
	sel    selection
	tails  map[int]selection // by attempt, with Tail
	follow *follower         // nil: not following

	closeOnce sync.Once
	closing   chan struct{}

	mu sync.Mutex // held by Next
	readState
	sourceState
}

// readState is how far the attempts have been read.
type readState struct {
	cur    *attempt
	number int   // of cur, or the next one to open
	passed int64 // lines of the attempts before cur
	end    bool
}

// sourceState is what Source.State returned last.
type sourceState struct {
	attempts int
	done     bool
}

// Open opens the log of one replica. Readers are independent of one another and of an active
// writer. Without Follow a reader returns what exists when it opens each attempt.
//
// Lines are numbered from 1 over all attempts that are read, over both streams if combined;
// an unfinished last line counts. A line longer than 16 MiB comes as several blocks with
// Partial set on all but the last.
// Errors: backend.ErrNotFound for an attempt that has not started, backend.ErrInvalidOption.
func Open(src Source, o backend.LogOptions) (backend.LogReader, error) {
	sel, err := newSelection(o)
	if err != nil {
		return nil, err
	}
	r := &reader{src: src, o: o, sel: sel, closing: make(chan struct{})}
	if r.attempts, r.done, err = src.State(); err != nil {
		return nil, err
	}
	if err := r.first(); err != nil {
		return nil, err
	}
	if o.Tail >= 0 {
		if err := r.planTail(); err != nil {
			return nil, err
		}
	}
	if r.number < r.attempts { // now, so that readers see what exists at Open
		if err := r.openNext(); err != nil {
			return nil, err
		}
	}
	if o.Follow {
		r.follow = newFollower(src, o)
	}
	return r, nil
}

// first selects the first attempt.
func (r *reader) first() error {
	switch {
	case r.o.Attempt != nil:
		r.number = *r.o.Attempt
		if r.o.AllAttempts && r.number == 0 {
			return nil // even before it has started
		}
		waiting := r.o.Follow && !r.done && r.attempts == 0 && r.number == 0
		if (r.number < 0 || r.number >= r.attempts) && !waiting {
			return fmt.Errorf("attempt %d: %s: %w", r.number, attemptsText(r.attempts),
				backend.ErrNotFound)
		}
	case !r.o.AllAttempts:
		r.number = max(0, r.attempts-1)
	}
	return nil
}

func attemptsText(attempts int) string {
	switch attempts {
	case 0:
		return "none has begun"
	case 1:
		return "the only one is 0"
	}
	return fmt.Sprintf("known ones are 0 to %d", attempts-1)
}

// readsOneAttempt reports whether a single attempt is read.
func (r *reader) readsOneAttempt() bool { return r.o.Attempt != nil && !r.o.AllAttempts }

// lastAttempt returns the last attempt to read.
func (r *reader) lastAttempt() int {
	if r.readsOneAttempt() {
		return *r.o.Attempt
	}
	return r.attempts - 1
}

// planTail determines which existing lines are the last Tail ones.
func (r *reader) planTail() error {
	r.tails = map[int]selection{}
	var open []*attempt
	defer func() {
		for _, a := range open {
			a.close()
		}
	}()
	passed := int64(0)
	for n := r.number; n <= r.lastAttempt() && n < r.attempts; n++ {
		a, err := openAttempt(n, r.src.Dir(n), r.isComplete(n))
		if err != nil {
			return err
		}
		open = append(open, a)
		a.sel = r.sel.after(passed)
		passed += a.count()
	}
	left := r.o.Tail
	for i := len(open) - 1; i >= 0; i-- {
		a := open[i]
		var sel selection
		tail := left
		a.index.untilStable(func() { sel, left = a.sel.drop(&a.index, tail) })
		if r.o.Follow && !a.complete {
			sel.dropOpen = 0 // unfinished lines may still end
		}
		r.tails[a.number] = sel
	}
	return nil
}

// isComplete reports whether all writers of an attempt have ended.
func (r *reader) isComplete(n int) bool { return r.done || n < r.attempts-1 }

func (r *reader) openNext() error {
	a, err := openAttempt(r.number, r.src.Dir(r.number), r.isComplete(r.number))
	if err != nil {
		return err
	}
	sel, ok := r.tails[r.number]
	if !ok {
		sel = r.sel.after(r.passed)
	}
	a.start(sel)
	r.cur = a
	return nil
}

// Next implements backend.LogReader. After Close its error is fs.ErrClosed.
func (r *reader) Next(ctx context.Context) (backend.Block, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if err := r.checkStopped(ctx); err != nil {
			return backend.Block{}, err
		}
		b, ok, err := r.step(ctx)
		if ok || err != nil {
			return b, err
		}
		if r.end {
			return backend.Block{}, io.EOF
		}
	}
}

// checkStopped returns an error if the reader was closed or canceled.
func (r *reader) checkStopped(ctx context.Context) error {
	select {
	case <-r.closing:
		return fmt.Errorf("read log: %w", fs.ErrClosed)
	default:
		return ctx.Err()
	}
}

// step returns a block or makes progress toward the next one.
func (r *reader) step(ctx context.Context) (backend.Block, bool, error) {
	if r.end {
		return backend.Block{}, false, nil
	}
	if r.cur == nil {
		return backend.Block{}, false, r.advance(ctx)
	}
	if b, ok, err := r.cur.next(); ok || err != nil {
		return b, ok, err
	}
	if r.follow != nil && !r.cur.atEnd && !r.cur.ended {
		return r.wait(ctx)
	}
	if b, ok, err := r.cur.last(); ok || err != nil {
		return b, ok, err
	}
	r.closeCurrent()
	return backend.Block{}, false, nil
}

// closeCurrent closes the current attempt.
func (r *reader) closeCurrent() {
	r.end = r.cur.ended || r.readsOneAttempt() || r.pastUntil()
	r.passed += r.cur.count()
	r.cur.close()
	r.cur = nil
	r.number++
}
