package membackend

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"torchx/runtime/backend"
)

// chunk is one write of a program: a complete line, or a last line without a newline.
type chunk struct {
	time   time.Time
	stream backend.Stream
	data   []byte
}

// writer returns a function that appends to the log of the running attempt.
func (a *app) writer(r *replica) func(backend.Stream, string) {
	return func(stream backend.Stream, text string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		last := &r.logs[len(r.logs)-1]
		*last = append(*last, chunk{time.Now(), stream, []byte(text)})
		a.notify()
	}
}

// reader reads the log of one replica. It holds no resources.
type reader struct {
	app     *app
	replica *replica
	options backend.LogOptions
	attempt int   // being read
	next    int   // chunk of that attempt
	line    int64 // lines of the selected streams seen so far
	skip    int64 // selected lines to skip, for Tail
}

func newReader(a *app, r *replica, o backend.LogOptions) (*reader, error) {
	if o.Stream != "" && !slices.Contains(backend.Streams, o.Stream) {
		return nil, backend.Errorf(backend.ErrInvalidOption, "invalid stream %q, want one of %v", o.Stream, backend.Streams)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	rd := &reader{app: a, replica: r, options: o, attempt: max(0, len(r.logs)-1)}
	switch {
	case o.AllAttempts && o.Attempt != nil && *o.Attempt == 0:
		rd.attempt = 0 // also before it has started
	case o.Attempt != nil && (*o.Attempt < 0 || *o.Attempt >= len(r.logs)):
		return nil, fmt.Errorf("attempt %d of replica %s/%d of app %s: there are %d, from 0: %w",
			*o.Attempt, r.role.Name, r.status.ID, a.id, len(r.logs), backend.ErrNotFound)
	case o.Attempt != nil:
		rd.attempt = *o.Attempt
	case o.AllAttempts:
		rd.attempt = 0
	}
	if o.Tail >= 0 {
		rd.skip = rd.count() - o.Tail
	}
	return rd, nil
}

// oneAttempt reports whether only one attempt is read.
func (rd *reader) oneAttempt() bool { return rd.options.Attempt != nil && !rd.options.AllAttempts }

// count returns the current number of selected lines.
func (rd *reader) count() int64 {
	other, n := *rd, int64(0)
	for c, _ := other.nextChunk(); c != nil; c, _ = other.nextChunk() {
		n++
	}
	return n
}

// nextChunk returns the next selected chunk and its attempt, nil if there is none yet.
func (rd *reader) nextChunk() (*chunk, int) {
	for rd.attempt < len(rd.replica.logs) {
		log := rd.replica.logs[rd.attempt]
		for rd.next < len(log) {
			c := &log[rd.next]
			rd.next++
			if rd.selects(c) {
				return c, rd.attempt
			}
		}
		if rd.oneAttempt() || rd.attempt == len(rd.replica.logs)-1 {
			break
		}
		rd.attempt, rd.next = rd.attempt+1, 0
	}
	return nil, 0
}

func (rd *reader) selects(c *chunk) bool {
	o := &rd.options
	if (o.Stream == backend.Stdout || o.Stream == backend.Stderr) && c.stream != o.Stream {
		return false
	}
	rd.line++
	switch {
	case rd.line < o.FromLine, o.ToLine > 0 && rd.line > o.ToLine:
		return false
	case !o.Since.IsZero() && c.time.Before(o.Since), !o.Until.IsZero() && !c.time.Before(o.Until):
		return false
	}
	return true
}

// Next returns one line at a time.
func (rd *reader) Next(ctx context.Context) (backend.Block, error) {
	for {
		b, changed, err := rd.poll()
		if err != nil || b.Data != nil {
			return b, err
		}
		if err := wait(ctx, changed, rd.options.Until); err != nil {
			return backend.Block{}, err
		}
	}
}

// poll returns the next block, the end, or a channel to wait for.
func (rd *reader) poll() (backend.Block, <-chan struct{}, error) {
	rd.app.mu.Lock()
	defer rd.app.mu.Unlock()
	for c, attempt := rd.nextChunk(); c != nil; c, attempt = rd.nextChunk() {
		if rd.skip > 0 {
			rd.skip--
			continue
		}
		return backend.Block{Time: c.time, Stream: c.stream, Attempt: attempt, Data: c.data}, nil, nil
	}
	if !rd.options.Follow || rd.done() {
		return backend.Block{}, nil, io.EOF
	}
	return backend.Block{}, rd.app.changed, nil
}

// done reports whether a follower has reached the end.
func (rd *reader) done() bool {
	o := &rd.options
	return rd.app.status.State.Terminal() ||
		rd.oneAttempt() && *o.Attempt < len(rd.replica.logs)-1 ||
		o.ToLine > 0 && rd.line >= o.ToLine ||
		!o.Until.IsZero() && !time.Now().Before(o.Until)
}

// wait returns at a change, or at the time until if it is set.
func wait(ctx context.Context, changed <-chan struct{}, until time.Time) error {
	var timeout <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-timeout:
	}
	return nil
}

// Close releases nothing.
func (rd *reader) Close() error { return nil }
