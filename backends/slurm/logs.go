package slurm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Logs opens the log of one replica, which the launcher writes into the app's folder. Errors:
// ErrNotFound, ErrInvalidOption, ErrUnsupported if the folder is not on this machine.
func (b *Backend) Logs(
	ctx context.Context, id string, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	if err := checkStream(o.Stream); err != nil {
		return nil, err
	}
	t, err := b.find(ctx, id)
	if err != nil {
		return nil, err
	}
	switch {
	case t.record == nil && t.folder == "":
		return nil, backend.Errorf(backend.ErrUnsupported, "torchx did not submit job %s: Slurm names the files of its output, see `scontrol show job %s`", id, id)
	case t.record == nil:
		if k := b.FindLogs(id, nil, "", nil); k != nil {
			b.warn(fmt.Sprintf("the log of app %s is read from its copy in %s: %s", id, k.Dir, t.hint()))
			return b.OpenRetainedLogs(ctx, k, r, o)
		}
		return nil, backend.Errorf(backend.ErrUnsupported,
			"the log of app %s cannot be read here: %s", id, t.hint())
	}
	role := t.record.App.Role(r.Role)
	if role == nil || r.ID < 0 || r.ID >= role.NumReplicas {
		return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id, backend.ErrNotFound)
	}
	l := &liveLog{backend: b, target: t, replica: r}
	reader, err := logstore.Open(logstore.Source{
		Dir:   func(attempt int) string { return t.folder.Attempt(r, attempt) },
		State: l.state, Watch: []string{string(t.folder)}, Hub: b.files,
	}, o)
	isWhole := o.Tail < 0 && o.FromLine <= 1 && o.ToLine == 0 &&
		o.Since.IsZero() && o.Until.IsZero()
	if err != nil || b.isHere(t) || !o.Follow && !isWhole {
		return reader, err
	}
	return b.copyWhileRead(reader, l), nil
}

// checkStream refuses an unknown stream. Errors: ErrInvalidOption.
func checkStream(s backend.Stream) error {
	if s != "" && !slices.Contains(backend.Streams, s) {
		return backend.Errorf(backend.ErrInvalidOption,
			"unknown stream %q: use combined, stdout or stderr", s)
	}
	return nil
}

// endEvery is how often a follower asks whether the app has ended. The launcher's own record of
// the end is noticed sooner.
const endEvery = time.Second

// liveLog is the state of a log that may grow.
type liveLog struct {
	backend *Backend
	target  *target
	replica spec.Replica

	mu      sync.Mutex
	asked   time.Time
	changed time.Time // when the launcher's records changed, as of asked
	ended   bool
}

// state returns the number of attempts, and whether the log is complete.
func (l *liveLog) state() (attempts int, done bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if changed := l.target.folder.Changed(); !l.ended &&
		(time.Since(l.asked) > endEvery || !changed.Equal(l.changed)) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s, err := l.backend.Describe(ctx, l.target.id)
		if err == nil { // otherwise the next call tries again
			l.ended = s.State.Terminal()
		}
		l.asked, l.changed = time.Now(), changed
	}
	attempts, err = l.target.folder.Attempts(l.replica)
	return attempts, l.ended, err
}

// logSource is the log of an attempt on the shared file system. It implements logcopy.Source.
type logSource struct {
	dir   string
	ended bool
}

// State implements logcopy.Source.
func (s *logSource) State() (logcopy.State, <-chan struct{}) {
	if s.ended {
		return logcopy.Ended, nil
	}
	return logcopy.Running, nil
}

// Open implements logcopy.Source.
func (s *logSource) Open(ctx context.Context, o logcopy.Options) (logcopy.Stream, error) {
	if _, err := os.Stat(s.dir); err != nil {
		return nil, err
	}
	tail := int64(-1)
	if o.Tail > 0 {
		tail = o.Tail
	}
	r, err := logstore.Open(logstore.Source{
		Dir: func(int) string { return s.dir }, State: func() (int, bool, error) { return 1, s.ended, nil },
	}, backend.LogOptions{Since: o.Since, Tail: tail})
	if err != nil {
		return nil, err
	}
	return &logStream{LogReader: r, ctx: ctx, ended: s.ended}, nil
}

// logStream splits blocks into lines, so that each opening of a log sends the same entries.
type logStream struct {
	backend.LogReader
	ctx   context.Context //nolint:containedctx // of the stream
	ended bool
	block backend.Block
	rest  []byte // of the block
}

// Next implements logcopy.Stream. A line that the replica has not finished is left to a later pass.
func (s *logStream) Next() (logcopy.Entry, error) {
	for {
		if len(s.rest) == 0 {
			var err error
			if s.block, err = s.LogReader.Next(s.ctx); err != nil {
				return logcopy.Entry{}, err
			}
			if s.block.Notice != "" {
				return logcopy.Entry{Gap: s.block.Notice}, nil
			}
			s.rest = s.block.Data
			continue
		}
		line := s.rest
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		s.rest = s.rest[len(line):]
		whole := line[len(line)-1] == '\n'
		if !whole && !s.block.Partial && !s.ended {
			continue
		}
		e := logcopy.Entry{Time: s.block.Time, Data: line, First: true, Last: whole}
		if s.block.Stream == backend.Stderr {
			e.Stream = logstore.Stderr
		}
		return e, nil
	}
}

// MayBlock implements logcopy.Stream: files do not.
func (s *logStream) MayBlock() bool { return false }
