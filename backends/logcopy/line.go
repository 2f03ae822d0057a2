package logcopy

import (
	"hash/crc32"
	"time"

	"torchx/runtime/logstore"
)

const (
	// slack is by how much lines can be out of order: the runtime takes the time of
	// a line of each stream before it writes them to one file.
	slack = time.Second
	// settle is how much later than all lines taken a line is when the last of those
	// cannot come any more.
	settle = 2 * time.Second
)

// LineCursor is a line of the log and where it ends in the sink. It stays true: an
// older one only means that more is sent again. The zero cursor is the beginning.
type LineCursor struct {
	Time   time.Time `json:"time"`
	Nth    int       `json:"nth"`    // among the lines of the same time, from 1
	Sum    uint32    `json:"sum"`    // CRC-32C of its content
	Offset int64     `json:"offset"` // bytes that the sink has up to its end
	Max    time.Time `json:"max"`    // the latest time of all lines so far
	// First is the time of the first line of the log; zero if an older version began the copy.
	First time.Time `json:"first,omitzero"`
	// Lost says that the line was not found, and a gap noted, since the last new line.
	Lost bool `json:"lost,omitempty"`
	// Done says that the log is complete.
	Done bool `json:"done,omitempty"`
}

func (c LineCursor) zero() bool { return c.Time.IsZero() }

// next is the cursor at the end of a line.
func (c LineCursor) next(l line, end int64) LineCursor {
	n := LineCursor{Time: l.time, Nth: 1, Sum: l.sum, Offset: end, Max: c.Max, First: c.First}
	if c.zero() {
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

// line is what is known of the line that passes.
type line struct {
	time time.Time
	sum  uint32
}

func (l *line) add(p Piece) {
	if p.First {
		*l = line{time: p.Time}
	}
	l.sum = crc32.Update(l.sum, crc32.MakeTable(crc32.Castagnoli), p.Data)
}

// Line is a position in a log of one stream, by its last line.
type Line struct {
	Cursor LineCursor

	line line
	at   int64 // where the line stands in the sink
	new  bool  // the cursor has changed

	search struct {
		on   bool
		nth  int      // lines of the cursor's time so far
		held []*Piece // what is new if the line does not come
	}
}

// NewLine returns the position of a cursor in a sink of a size. A cursor behind its
// end is of no use: nothing is known of what such a sink has.
func NewLine(c LineCursor, size int64) *Line {
	if c.Offset > size {
		c = LineCursor{}
	}
	return &Line{Cursor: c}
}

// start is the whole second to ask for.
func (l *Line) start(bool) (o Options) {
	if !l.Cursor.zero() {
		o.Since = l.Cursor.Time.Add(-slack).Truncate(time.Second)
	}
	return o
}

func (l *Line) begin(Sink) {
	l.search.on, l.search.nth, l.search.held, l.at = !l.Cursor.zero(), 0, nil, 0
}

func (l *Line) searching() bool { return l.search.on }

func (l *Line) complete() bool { return l.Cursor.Done }

func (l *Line) move(_, _ [2]int64) bool { return false }

func (l *Line) changed() (is bool) {
	is, l.new = l.new, false
	return is
}

// take looks for the cursor's line, up to which all are known, then passes pieces on.
func (l *Line) take(c *copier, p Piece) error {
	l.line.add(p)
	if !l.search.on {
		return l.pass(c, p)
	}
	if p.First && p.Time.After(l.Cursor.Max.Add(settle)) {
		if err := l.lose(c); err != nil {
			return err
		}
		l.line = line{}
		l.line.add(p)
		return l.pass(c, p)
	}
	if l.line.time.Equal(l.Cursor.Time) {
		if p.First {
			l.search.nth++
		}
		if p.Last && l.search.nth >= l.Cursor.Nth && l.line.sum == l.Cursor.Sum {
			l.search.on, l.search.held, l.at = false, nil, l.Cursor.Offset
			return nil
		}
	}
	if p.Time.After(l.Cursor.Max) {
		l.search.held = append(l.search.held, p.keep())
	}
	return nil
}

// lose notes a gap and takes what came instead of the cursor's line.
func (l *Line) lose(c *copier) error {
	l.search.on = false
	if !l.Cursor.Lost {
		if err := c.gap(GapRotated); err != nil {
			return err
		}
	}
	l.Cursor.Lost, l.new = true, true
	l.at = c.to.Sizes()[logstore.Stdout]
	l.Cursor.Offset = l.at
	held := l.search.held
	l.search.held = nil
	for _, p := range held {
		l.line.add(*p)
		if err := l.pass(c, *p); err != nil {
			return err
		}
	}
	return nil
}

// pass writes what the sink does not have.
func (l *Line) pass(c *copier, p Piece) error {
	end := l.at + int64(len(p.Data))
	if size := c.to.Sizes()[logstore.Stdout]; end > size {
		p.Data = p.Data[max(0, size-l.at):]
		if err := c.write(p); err != nil {
			return err
		}
	}
	l.at = end
	if p.Last {
		l.Cursor, l.new = l.Cursor.next(l.line, end), true
	}
	return nil
}

func (l *Line) finish(c *copier, tail *Piece) (err error) {
	if !c.last.came { // the line is of an earlier stream
		l.search.on, l.at = false, l.Cursor.Offset
	}
	if tail != nil && !l.search.on {
		l.line.add(*tail)
		err = l.pass(c, *tail)
	}
	l.Cursor.Done, l.new = true, true
	return err
}
