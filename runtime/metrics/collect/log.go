package collect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/metrics"
	"torchx/runtime/pattern"
)

// settleTime is longer than the resolution of file times: a log that changed less than that
// before it was read may have changed again since.
const settleTime = 100 * time.Millisecond

// replicaLog scans the log of an attempt.
type replicaLog struct {
	collector *Collector
	key       string
	attempt   Attempt
	dir       string
	patterns  *pattern.Set

	opened  bool // at is known
	at      logPosition
	scanner *metrics.Scanner
	seen    fs.FileInfo // of the index, when the log was last read
	seenAt  time.Time
}

// logPosition is how far a log has been scanned.
type logPosition struct {
	Lines   int64 `json:"lines"`          // whole lines
	Part    parts `json:"part,omitempty"` // bytes of the unfinished line, by stream
	Step    int64 `json:"step,omitempty"`
	HasStep bool  `json:"has_step,omitempty"`
	Done    bool  `json:"done,omitempty"`
}

type parts map[backend.Stream]int64

func (l *replicaLog) isDone() bool { return l.at.Done }

func (l *replicaLog) read(ctx context.Context, final bool) error {
	info, err := os.Stat(filepath.Join(l.dir, logstore.IndexFile))
	if err == nil && !final && l.seen != nil && info.Size() == l.seen.Size() &&
		info.ModTime().Equal(l.seen.ModTime()) &&
		l.seenAt.Sub(info.ModTime()) > settleTime {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	now := time.Now()
	store, err := l.collector.open()
	if err != nil {
		return err
	}
	if !l.opened {
		if err := decode(store.Position(l.key), &l.at); err != nil {
			return err
		}
		l.scanner = metrics.NewScanner(l.patterns, store, l.attempt.Role, l.attempt.ID,
			l.collector.LinesInLog)
		l.scanner.Step, l.scanner.HasStep = l.at.Step, l.at.HasStep
		l.opened = true
	}
	if l.at.Done {
		return nil
	}
	if err := l.scan(ctx, final); err != nil {
		return err
	}
	l.seen, l.seenAt = info, now
	return nil
}

// scan scans the lines after the position.
func (l *replicaLog) scan(ctx context.Context, final bool) error {
	number := l.attempt.Number
	r, err := logstore.Open(logstore.Source{
		Dir:   func(int) string { return l.dir },
		State: func() (int, bool, error) { return number + 1, final, nil },
	}, backend.LogOptions{Attempt: &number, FromLine: l.at.Lines + 1, Tail: -1})
	if err != nil {
		return err
	}
	defer r.Close()
	s := blockScanner{scanner: l.scanner, attempt: number, part: l.at.Part, final: final}
	size := 0
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, l.save(&s, false))
		}
		s.add(&b)
		if size += len(b.Data); size >= flushBytes {
			size = 0
			if err := l.save(&s, false); err != nil {
				return err
			}
		}
	}
	return l.save(&s, final)
}

func (l *replicaLog) save(s *blockScanner, done bool) error {
	l.at.Lines += s.lines
	s.lines = 0
	l.at.Part, l.at.Step, l.at.HasStep, l.at.Done = s.part, l.scanner.Step, l.scanner.HasStep, done
	return l.collector.flush(l.key, encode(l.at))
}

// blockScanner passes the blocks of a log to a scanner: whole lines, and of an unfinished line
// what a carriage return ends, since progress bars may take hours to end a line.
type blockScanner struct {
	scanner *metrics.Scanner
	attempt int
	part    parts // bytes of the unfinished lines that were scanned
	passed  parts // bytes of the unfinished lines in the blocks so far
	lines   int64 // whole lines since the position was saved
	final   bool  // unfinished lines stay so
}

func (s *blockScanner) add(b *backend.Block) {
	if s.part == nil {
		s.part = parts{}
	}
	if s.passed == nil {
		s.passed = parts{}
	}
	s.lines += b.Skipped
	data := b.Data
	if end := bytes.LastIndexByte(data, '\n') + 1; end > 0 {
		from := min(int64(end), max(0, s.part[b.Stream]-s.passed[b.Stream]))
		s.scanner.Scan(data[from:end], b.Time, s.attempt)
		s.lines += int64(bytes.Count(data[:end], []byte{'\n'}))
		delete(s.part, b.Stream)
		delete(s.passed, b.Stream)
		data = data[end:]
	}
	if len(data) == 0 {
		return
	}
	end := bytes.LastIndexByte(data, '\r') + 1
	if s.final && !b.Partial || end == 0 && b.Partial {
		end = len(data)
	}
	passed := s.passed[b.Stream]
	if from := max(0, s.part[b.Stream]-passed); from < int64(end) {
		s.scanner.Scan(data[from:end], b.Time, s.attempt)
		s.part[b.Stream] = passed + int64(end)
	}
	s.passed[b.Stream] = passed + int64(len(data))
}

// Log scans a whole log, as a command does afterwards. It flushes the store now and then.
func Log(ctx context.Context, r backend.LogReader, s *metrics.Scanner, store *metrics.Store) error {
	all, size := blockScanner{scanner: s, final: true}, 0
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return store.Flush(nil)
		}
		if err != nil {
			return err
		}
		all.attempt = b.Attempt
		all.add(&b)
		if size += len(b.Data); size >= flushBytes {
			size = 0
			if err := store.Flush(nil); err != nil {
				return err
			}
		}
	}
}
