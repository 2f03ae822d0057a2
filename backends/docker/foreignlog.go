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

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Logs opens the log of one replica: the copy in the bundle, or the engine's log for an
// app of another home. Errors: ErrNotFound, ErrInvalidOption, ErrUnavailable.
func (b *Backend) Logs(
	ctx context.Context, id string, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	if b.Has(id) {
		return b.Apps.Logs(ctx, id, r, o)
	}
	engine, containers, err := b.foreignContainers(ctx, id)
	if err != nil {
		return nil, err
	}
	c, attempt, ok := findAttempt(containers, r, o.Attempt)
	if !ok {
		return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id, backend.ErrNotFound)
	}
	if o.Stream != "" && !slices.Contains(backend.Streams, o.Stream) {
		return nil, backend.Errorf(backend.ErrInvalidOption,
			"unknown stream %q: use combined, stdout or stderr", o.Stream)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the reader outlives the call
	stream, err := engine.ContainerLogs(ctx, c.ID, engineOptions(o))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("read log of %s: %w", nameOf(c), plain(err))
	}
	return &foreignLog{logStream: newLogStream(stream, timed(o)), cancel: cancel, options: o, attempt: attempt}, nil
}

// findAttempt returns the container of the wanted attempt; nil selects the last one.
func findAttempt(
	all []container.Summary, r spec.Replica, wanted *int,
) (found container.Summary, attempt int, ok bool) {
	for _, c := range all {
		replica, n, labeled := attemptOf(c.Labels)
		if !labeled || replica != r || wanted != nil && *wanted != n || ok && n < attempt {
			continue
		}
		found, attempt, ok = c, n, true
	}
	return found, attempt, ok
}

// engineOptions leaves to the engine what it does correctly. Its tail counts the lines of
// both streams, before any other selection.
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

// timed reports whether the engine has to send times, which take a tenth of its work.
func timed(o backend.LogOptions) bool {
	return !o.Untimed || o.Follow || !o.Since.IsZero() || !o.Until.IsZero()
}

// foreignLog is the engine's log of one container.
type foreignLog struct {
	*logStream
	cancel  context.CancelFunc
	options backend.LogOptions
	attempt int
	line    int64 // index of the line that is being read, from 0

	chunk   logcopy.Chunk  // returned last
	pending *logcopy.Entry // first entry of the next chunk
	err     error          // ends the log; io.EOF at its end
}

// Next returns the next lines. It stops waiting for the engine when ctx ends.
func (f *foreignLog) Next(ctx context.Context) (backend.Block, error) {
	stop := context.AfterFunc(ctx, f.cancel)
	defer stop()
	c := &f.chunk
	c.Data = c.Data[:0]
	partial := false
	for f.err == nil && !partial && (len(c.Data) == 0 || !f.MayBlock()) {
		p, err := f.next()
		switch {
		case err != nil:
			f.err = err
		case !c.Accepts(p.Stream, p.Time):
			f.pending = &p
			return f.block(false), nil
		default:
			c.Add(p.Stream, p.Time, p.Data)
			partial = !p.Last
		}
	}
	switch {
	case len(c.Data) > 0:
		return f.block(partial), nil
	case ctx.Err() != nil:
		return backend.Block{}, ctx.Err()
	case errors.Is(f.err, io.EOF):
		return backend.Block{}, io.EOF
	}
	return backend.Block{}, fmt.Errorf("read log: %w", plain(f.err))
}

// block returns the chunk as a block.
func (f *foreignLog) block(partial bool) backend.Block {
	b := backend.Block{Attempt: f.attempt, Stream: backend.Stdout, Data: f.chunk.Data, Time: f.chunk.To, Partial: partial}
	if f.chunk.Stream == logstore.Stderr {
		b.Stream = backend.Stderr
	}
	return b
}

// next returns the next selected entry, io.EOF after the last one.
func (f *foreignLog) next() (logcopy.Entry, error) {
	if p := f.pending; p != nil {
		f.pending = nil
		return *p, nil
	}
	for {
		if f.options.ToLine > 0 && f.line >= f.options.ToLine {
			return logcopy.Entry{}, io.EOF
		}
		p, err := f.logStream.Next()
		if err != nil {
			return p, err
		}
		if !f.options.Until.IsZero() && !p.Time.Before(f.options.Until) {
			return logcopy.Entry{}, io.EOF
		}
		line := f.line + 1
		if p.Last {
			f.line++
		}
		if line >= f.options.FromLine {
			return p, nil
		}
	}
}

// Close ends the stream.
func (f *foreignLog) Close() error {
	f.cancel()
	return f.logStream.Close()
}
