package api

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
)

// logIndex finds lines of merged logs without reading what precedes them. The number of a line is
// its place in the order of time.
type logIndex struct {
	logs   []backend.LogCounter
	counts []backend.LogCount // by log
	total  int64
	bytes  int64
	span   [2]time.Time // of the first and the last output
}

// newLogIndex returns the index of open logs, nil if one has none: a remote log that is not copied.
func newLogIndex(inputs []runner.LogInput) (*logIndex, error) {
	x := &logIndex{}
	for _, in := range inputs {
		counter, ok := in.Reader.(backend.LogCounter)
		if !ok {
			return nil, nil //nolint:nilnil // having no index is not an error
		}
		c, err := counter.Count()
		if err != nil {
			return nil, fmt.Errorf("log of %s/%d: %w", in.Role, in.ID, err)
		}
		x.logs, x.counts = append(x.logs, counter), append(x.counts, c)
		x.total += c.Lines
		x.bytes += c.Bytes
		if c.Lines == 0 || c.First.IsZero() {
			continue
		}
		if x.span[0].IsZero() || c.First.Before(x.span[0]) {
			x.span[0] = c.First
		}
		if c.Last.After(x.span[1]) {
			x.span[1] = c.Last
		}
	}
	return x, nil
}

// before returns the number of lines of each log before a time, and their sum.
func (x *logIndex) before(t time.Time) (each []int64, sum int64, err error) {
	each = make([]int64, len(x.logs))
	for i, log := range x.logs {
		switch c := &x.counts[i]; {
		case c.Lines == 0, !t.After(c.First):
		case t.After(c.Last): // without a look at its files: there may be a thousand logs
			each[i] = c.Lines
		default:
			if each[i], err = log.LinesBefore(t); err != nil {
				return nil, 0, err
			}
		}
		sum += each[i]
	}
	return each, sum, nil
}

// seek moves the logs to a line, and returns the number of lines that come before it nevertheless.
func (x *logIndex) seek(line int64) (skip int64, err error) {
	starts, passed := make([]int64, len(x.logs)), line-1
	if len(x.logs) == 1 {
		starts[0] = passed
	} else if starts, passed, err = x.bisect(line - 1); err != nil {
		return 0, err
	}
	for i, log := range x.logs {
		if err := log.SeekLine(starts[i] + 1); err != nil {
			return 0, err
		}
	}
	return line - 1 - passed, nil
}

// bisect returns the lines of each log before the latest time that at most so many lines precede.
func (x *logIndex) bisect(lines int64) (each []int64, sum int64, err error) {
	from := x.span[0].UnixNano()
	n := sort.Search(int(x.span[1].UnixNano()-from+2), func(i int) bool {
		_, sum, failed := x.before(time.Unix(0, from+int64(i)))
		if failed != nil {
			err = failed
		}
		return sum > lines
	})
	if err != nil {
		return nil, 0, err
	}
	return x.before(time.Unix(0, from+int64(n)-1))
}

// read reads the window of a query.
func (x *logIndex) read(ctx context.Context, o *openLog, q *LogQuery, log *Log) error {
	log.Total, log.Bytes = x.total, x.bytes
	first, count := q.Line, q.Count
	switch {
	case q.Tail > 0:
		first, count = max(1, q.Line, x.total-q.Tail+1), q.Tail
	case !q.Time.IsZero():
		_, before, err := x.before(q.Time)
		if err != nil {
			return err
		}
		first = before + 1
	}
	if x.total == 0 || first > x.total {
		return nil
	}
	skip, err := x.seek(first)
	if err != nil {
		return err
	}
	s := o.scan(first - skip - 1)
	room := maxBytes
	err = s.lines(ctx, func(l *LogLine) bool {
		if l.Number < first {
			return true
		}
		log.Lines = append(log.Lines, *l)
		room -= len(l.Line)
		return int64(len(log.Lines)) < count && room > 0
	})
	log.finish(s)
	return err
}

// finish sets what is known after the lines were read.
func (log *Log) finish(s *logScan) {
	log.Notices = append(log.Notices, s.notices...)
	if len(log.Lines) > 0 {
		log.First = log.Lines[0].Number
	}
	if last := len(log.Lines); last > 0 { // lines may have come meanwhile
		log.Total = max(log.Total, log.Lines[last-1].Number)
	}
}

// readAll reads a log without an index from its beginning, and keeps the window.
func (o *openLog) readAll(ctx context.Context, q *LogQuery, log *Log) error {
	s := o.scan(0)
	err := s.lines(ctx, func(l *LogLine) bool {
		log.Bytes += int64(len(l.Line)) + l.Cut + 1
		switch full := int64(len(log.Lines)) >= q.Count; {
		case q.Tail > 0:
			log.Lines = append(log.Lines, *l)
			if int64(len(log.Lines)) > 2*q.Tail {
				log.Lines = append(log.Lines[:0], log.Lines[int64(len(log.Lines))-q.Tail:]...)
			}
		case full, l.Number < q.Line, !q.Time.IsZero() && l.Time != nil && l.Time.Before(q.Time):
		default:
			log.Lines = append(log.Lines, *l)
		}
		return true
	})
	if q.Tail > 0 {
		log.Lines = log.Lines[max(0, int64(len(log.Lines))-q.Tail):]
		log.Lines = slices.DeleteFunc(log.Lines, func(l LogLine) bool { return l.Number < q.Line })
	}
	log.finish(s)
	log.Total = s.number
	return err
}

// scan returns a scan of the logs; passed is the number of lines before the first one.
func (o *openLog) scan(passed int64) *logScan {
	s := &logScan{log: o, number: passed}
	s.open = make([][3]unfinished, len(o.inputs))
	s.merger = logview.NewMerger(o.readers(), false)
	return s
}
