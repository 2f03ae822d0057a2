package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/backends/logcopy"
	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

const (
	// parallel bounds the logs that are copied concurrently.
	parallel = 8
	// giveUp is how long a shared file system may fail before a pass returns the error.
	giveUp = 10 * time.Second
)

// Copier copies the logs of an app, or of one replica.
type Copier struct {
	Dir  string        // of the archive
	From folder.Folder // of the app
	App  *spec.App
	Only *spec.Replica // nil: all

	mu   sync.Mutex
	done map[string]bool // folders of copies that are complete
}

// Pass copies the lines that the logs have and their copies lack. It reports whether all copies are
// complete; they are not while the app runs, or while another process copies.
func (c *Copier) Pass(ctx context.Context, ended bool) (complete bool, err error) {
	all := map[spec.Replica][]folder.Attempt{}
	if c.Only != nil {
		all[*c.Only], err = c.From.AttemptsOf(*c.Only)
	} else {
		var run *folder.Run
		if run, err = c.From.Run(c.App); err == nil {
			all = run.Replicas
		}
	}
	if err != nil {
		return false, err
	}
	var jobs errgroup.Group
	jobs.SetLimit(parallel)
	var mu sync.Mutex
	complete = ended
	for r, attempts := range all {
		jobs.Go(func() error {
			ok, err := c.replica(ctx, r, attempts, ended)
			mu.Lock()
			defer mu.Unlock()
			complete = complete && ok
			return err
		})
	}
	err = jobs.Wait()
	return complete && err == nil, err
}

// replica copies the logs of all attempts of a replica, unless another process does.
func (c *Copier) replica(ctx context.Context, r spec.Replica, attempts []folder.Attempt, ended bool) (complete bool, err error) {
	dir := logstore.ReplicaDir(c.Dir, r)
	to := func(a *folder.Attempt) string { return filepath.Join(dir, strconv.Itoa(a.Number)) }
	complete = true
	for i := range attempts {
		complete = complete && c.isDone(to(&attempts[i]))
	}
	if complete {
		return true, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("create archive: %w", err)
	}
	lock, err := filelock.TryAcquire(filepath.Join(dir, lockFile))
	if errors.Is(err, filelock.ErrHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	complete = true
	for i := range attempts {
		a := &attempts[i]
		if c.isDone(to(a)) {
			continue
		}
		done, err := copyLog(ctx, c.From.Attempt(r, a.Number), to(a), ended || a.Exit != nil)
		if err != nil {
			return false, fmt.Errorf("archive the log of %s/%d: %w", r.Role, r.ID, err)
		}
		if complete = complete && done; done {
			c.setDone(to(a))
		}
	}
	return complete, nil
}

// isDone reports whether a copy is complete.
func (c *Copier) isDone(dir string) bool {
	c.mu.Lock()
	known := c.done[dir]
	c.mu.Unlock()
	var cursor logcopy.OffsetCursor
	if !known && logcopy.ReadCursor(dir, &cursor) == nil && cursor.Done {
		c.setDone(dir)
		known = true
	}
	return known
}

func (c *Copier) setDone(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = map[string]bool{}
	}
	c.done[dir] = true
}

// copyLog appends to the log in folder to what it lacks of that in from, which is complete if the
// attempt has ended.
func copyLog(ctx context.Context, from, to string, ended bool) (done bool, err error) {
	l, err := logcopy.OpenLog(to)
	if err != nil {
		return false, err
	}
	var cursor logcopy.OffsetCursor
	_ = logcopy.ReadCursor(to, &cursor) // without it everything is read again and known lines are skipped
	at := logcopy.NewOffsetPosition(cursor)
	l.Save = func() error { return logcopy.WriteCursor(to, at.Cursor) }
	done, err = logcopy.Copy(ctx, &source{from, ended}, l, at, logcopy.Mode{
		GiveUpAfter: giveUp, GapGone: "gap: the folder of the app was removed",
		Timing: logcopy.Timing{Backoff: 50 * time.Millisecond, MaxBackoff: time.Second, ResetAfter: time.Hour},
	})
	return done, errors.Join(err, l.Close())
}

// source is the log of an attempt on the shared file system. It implements logcopy.Source.
type source struct {
	dir   string
	ended bool
}

// State implements logcopy.Source.
func (s *source) State() (logcopy.State, <-chan struct{}) {
	if s.ended {
		return logcopy.Ended, nil
	}
	return logcopy.Running, nil
}

// Open implements logcopy.Source.
func (s *source) Open(ctx context.Context, o logcopy.Options) (logcopy.Stream, error) {
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
	return &stream{LogReader: r, ctx: ctx, ended: s.ended}, nil
}

// stream splits blocks into lines, so that each opening of a log sends the same entries.
type stream struct {
	backend.LogReader
	ctx   context.Context //nolint:containedctx // of the stream
	ended bool
	block backend.Block
	rest  []byte // of the block
}

// Next implements logcopy.Stream. A line that the replica has not finished is left to a later pass.
func (s *stream) Next() (logcopy.Entry, error) {
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
func (s *stream) MayBlock() bool { return false }
