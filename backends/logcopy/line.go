package logcopy

import (
	"hash/crc32"
	"time"

	"torchx/runtime/logstore"
)

const (
	// maxReorder is by how much entries of the two streams can be out of order: the
	// writer takes the time of each before it writes them to one file.
	maxReorder = time.Second
	// searchMargin ends the search for the cursor's line, which cannot come after a line
	// that is this much later than all copied ones.
	searchMargin = 2 * time.Second
)

// LineCursor identifies a line of the log and says where it ends in the sink. It never
// becomes invalid: with an older cursor, more lines are sent again. The zero cursor is
// the beginning of the log.
type LineCursor struct {
	Time   time.Time `json:"time"`
	Nth    int       `json:"nth"`    // among the lines with this time, from 1
	Sum    uint32    `json:"sum"`    // CRC-32C of its content
	Offset int64     `json:"offset"` // of its end in the sink, in bytes
	Max    time.Time `json:"max"`    // the latest time of all lines so far
	// First is the time of the first line of the log; zero if an older version began the copy.
	First time.Time `json:"first,omitzero"`
	// AtEOF is the cursor at the last end of a stream after which another one was opened.
	AtEOF *LineCursor `json:"at_eof,omitempty"`
	// Lost is set when the line was not found and a gap was noted, until the next new line.
	Lost bool `json:"lost,omitempty"`
	// Done is set when the log is complete.
	Done bool `json:"done,omitempty"`
}

func (c LineCursor) isZero() bool { return c.Time.IsZero() }

// next returns the cursor at the end of line l, which follows that of c.
func (c LineCursor) next(l lineSum, end int64) LineCursor {
	n := LineCursor{Time: l.time, Nth: 1, Sum: l.sum, Offset: end, Max: c.Max, First: c.First, AtEOF: c.AtEOF}
	if c.isZero() {
		n.First = l.time
	}
	if l.time.Equal(c.Time) {
		n.Nth = c.Nth + 1
	}
	if l.time.After(n.Max) {
		n.Max = l.time
	}
	return n
}

// lineSum is the time and checksum of the line that is being read.
type lineSum struct {
	time time.Time
	sum  uint32
}

func (l *lineSum) add(e Entry) {
	if e.First {
		*l = lineSum{time: e.Time}
	}
	l.sum = crc32.Update(l.sum, crc32.MakeTable(crc32.Castagnoli), e.Data)
}

// LinePosition is a position in a log of one stream, identified by the last line copied.
type LinePosition struct {
	Cursor LineCursor

	current lineSum
	offset  int64 // of the current line in the sink
	dirty   bool  // the cursor has changed

	search struct {
		active  bool
		nth     int      // lines with the cursor's time so far
		pending []*Entry // new if the line is not found
	}
}

// NewLinePosition returns the position of a cursor in a sink of size bytes. A cursor
// behind its end is ignored: it does not belong to the contents of the sink.
func NewLinePosition(c LineCursor, size int64) *LinePosition {
	if c.Offset > size {
		c = LineCursor{}
	}
	return &LinePosition{Cursor: c}
}

// options asks for a whole second: the API's sinceTime has no fractions.
func (l *LinePosition) options(bool) (o Options) {
	if !l.Cursor.isZero() {
		o.Since = l.Cursor.Time.Add(-maxReorder).Truncate(time.Second)
	}
	return o
}

func (l *LinePosition) begin(_ Sink, afterEOF bool) {
	if afterEOF && !l.Cursor.isZero() {
		at := l.Cursor
		at.AtEOF = nil
		l.Cursor.AtEOF, l.dirty = &at, true
	}
	l.search.active, l.search.nth, l.search.pending, l.offset = !l.Cursor.isZero(), 0, nil, 0
}

func (l *LinePosition) searching() bool { return l.search.active }

func (l *LinePosition) complete() bool { return l.Cursor.Done }

func (l *LinePosition) shift(_, _ [2]int64) bool { return false }

func (l *LinePosition) changed() (is bool) {
	is, l.dirty = l.dirty, false
	return is
}

// consume skips everything up to the cursor's line, then writes what follows.
func (l *LinePosition) consume(c *copier, e Entry) error {
	l.current.add(e)
	if !l.search.active {
		return l.writeNew(c, e)
	}
	if e.First && e.Time.After(l.Cursor.Max.Add(searchMargin)) {
		if err := l.stopSearch(c, GapRotated); err != nil {
			return err
		}
		l.current = lineSum{}
		l.current.add(e)
		return l.writeNew(c, e)
	}
	if l.current.time.Equal(l.Cursor.Time) {
		if e.First {
			l.search.nth++
		}
		if e.Last && l.search.nth >= l.Cursor.Nth && l.current.sum == l.Cursor.Sum {
			l.search.active, l.search.pending, l.offset = false, nil, l.Cursor.Offset
			return nil
		}
	}
	if e.Time.After(l.Cursor.Max) {
		l.search.pending = append(l.search.pending, e.keep())
	}
	return nil
}

// stopSearch notes a gap and writes the lines read instead of the cursor's line.
func (l *LinePosition) stopSearch(c *copier, text string) error {
	l.search.active = false
	if !l.Cursor.Lost && text != "" {
		if err := c.gap(text); err != nil {
			return err
		}
	}
	l.Cursor.Lost, l.dirty = true, true
	l.offset = c.to.Sizes()[logstore.Stdout]
	l.Cursor.Offset = l.offset
	pending := l.search.pending
	l.search.pending = nil
	for _, e := range pending {
		l.current.add(*e)
		if err := l.writeNew(c, *e); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes the part of an entry that the sink does not have.
func (l *LinePosition) writeNew(c *copier, e Entry) error {
	end := l.offset + int64(len(e.Data))
	if size := c.to.Sizes()[logstore.Stdout]; end > size {
		e.Data = e.Data[max(0, size-l.offset):]
		if err := c.write(e); err != nil {
			return err
		}
	}
	l.offset = end
	if e.Last {
		l.Cursor, l.dirty = l.Cursor.next(l.current, end), true
	}
	return nil
}

func (l *LinePosition) finish(c *copier, tail *Entry) (err error) {
	if !c.last.received { // the tail is of an earlier stream
		l.search.active, l.offset = false, l.Cursor.Offset
	}
	if tail != nil && !l.search.active {
		l.current.add(*tail)
		err = l.writeNew(c, *tail)
	}
	l.Cursor.Done, l.dirty = true, true
	return err
}
