package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"

	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Logs opens the log of one replica: the archive of an app of this home, or what
// the engine has of another one. Errors: ErrNotFound, ErrInvalidOption, ErrUnavailable.
func (b *Backend) Logs(ctx context.Context, id string, r spec.Replica, o backend.LogOptions) (backend.LogReader, error) {
	if b.Has(id) {
		return b.Apps.Logs(ctx, id, r, o)
	}
	engine, containers, err := b.foreign(ctx, id)
	if err != nil {
		return nil, err
	}
	c, attempt, ok := pick(containers, r, o.Attempt)
	if !ok {
		return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id, backend.ErrNotFound)
	}
	if o.Stream != "" && !slices.Contains(backend.Streams, o.Stream) {
		return nil, backend.Errorf(backend.ErrInvalidOption, "unknown stream %q: use combined, stdout or stderr", o.Stream)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the reader outlives the call
	stream, err := engine.ContainerLogs(ctx, c.ID, engineOptions(o))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("read log of %s: %w", nameOf(c), plain(err))
	}
	return &foreignLog{stream: stream, cancel: cancel, in: newEntries(stream, timed(o)), options: o, attempt: attempt}, nil
}

// pick is the container of an attempt, the last one if nobody says which.
func pick(all []container.Summary, r spec.Replica, wanted *int) (found container.Summary, attempt int, ok bool) {
	for _, c := range all {
		have, n, labelled := attemptOf(c.Labels)
		if !labelled || have != r || wanted != nil && *wanted != n || ok && n < attempt {
			continue
		}
		found, attempt, ok = c, n, true
	}
	return found, attempt, ok
}

// engineOptions leave the work to the engine where it does it right: its tail
// counts the lines of both streams, before any other selection.
func engineOptions(o backend.LogOptions) container.LogsOptions {
	e := container.LogsOptions{
		ShowStdout: o.Stream != backend.Stderr, ShowStderr: o.Stream != backend.Stdout, Timestamps: timed(o), Follow: o.Follow,
	}
	if !o.Since.IsZero() {
		e.Since = o.Since.UTC().Format(time.RFC3339Nano)
	}
	if !o.Until.IsZero() {
		e.Until = o.Until.UTC().Format(time.RFC3339Nano)
	}
	if o.Tail >= 0 {
		e.Tail = strconv.FormatInt(o.Tail, 10)
	}
	return e
}

// timed tells whether the engine is to send times: making and reading them costs a
// tenth of its work.
func timed(o backend.LogOptions) bool {
	return !o.Untimed || o.Follow || !o.Since.IsZero() || !o.Until.IsZero()
}

// foreignLog is the engine's log of one container.
type foreignLog struct {
	stream  io.ReadCloser
	cancel  context.CancelFunc
	in      *entries
	options backend.LogOptions
	attempt int
	line    int64 // the line that is being read, from 0

	data []byte // of the block that was handed out last
	held *entry // read, but of the next block
	over error  // why nothing more is read
}

// blockTime and blockBytes bound what is handed out at once: a block per line costs
// readers as much as the engine's work.
const (
	blockTime  = 5 * time.Millisecond
	blockBytes = 256 << 10
)

// Next returns the next lines. What waits for the engine ends with ctx.
func (f *foreignLog) Next(ctx context.Context) (backend.Block, error) {
	stop := context.AfterFunc(ctx, f.cancel)
	defer stop()
	b := backend.Block{Attempt: f.attempt, Data: f.data[:0]}
	var from time.Time
	for f.over == nil {
		e, err := f.next()
		if err != nil {
			f.over = err
			break
		}
		if len(b.Data) == 0 {
			b.Stream, from = streamOf(e), e.time
		} else if b.Stream != streamOf(e) || e.time.Sub(from) > blockTime || len(b.Data) >= blockBytes {
			f.held = &e
			return b, nil
		}
		b.Data, b.Time, b.Partial = append(b.Data, e.data...), e.time, !e.whole()
		f.data = b.Data
		if b.Partial || f.in.rests() {
			return b, nil
		}
	}
	switch {
	case len(b.Data) > 0:
		return b, nil
	case ctx.Err() != nil:
		return backend.Block{}, ctx.Err()
	case errors.Is(f.over, io.EOF):
		return backend.Block{}, io.EOF
	}
	return backend.Block{}, fmt.Errorf("read log: %w", plain(f.over))
}

func streamOf(e entry) backend.Stream {
	if e.stream == logstore.Stderr {
		return backend.Stderr
	}
	return backend.Stdout
}

// next is the next entry that is selected, io.EOF after the last one.
func (f *foreignLog) next() (entry, error) {
	if e := f.held; e != nil {
		f.held = nil
		return *e, nil
	}
	for {
		if f.options.ToLine > 0 && f.line >= f.options.ToLine {
			return entry{}, io.EOF
		}
		e, err := f.in.next()
		if err != nil {
			return e, err
		}
		if !f.options.Until.IsZero() && !e.time.Before(f.options.Until) {
			return entry{}, io.EOF
		}
		line := f.line + 1
		if e.whole() {
			f.line++
		}
		if line >= f.options.FromLine {
			return e, nil
		}
	}
}

// Close ends the stream.
func (f *foreignLog) Close() error {
	f.cancel()
	return f.stream.Close()
}
