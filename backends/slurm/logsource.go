package slurm

import (
	"bytes"
	"context"
	"os"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
)

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
