package podlog

import (
	"hash/crc32"
	"time"
)

const (
	// slack is by how much lines can be out of order: the runtime takes the time of
	// a line of each stream before it writes them to one file.
	slack = time.Second
	// settle is how much later than all that were taken a line is when the last
	// of those cannot come any more.
	settle = 2 * time.Second
)

// Cursor is a line of the log and where it ends in the sink. It stays true: an older
// one only means that more is sent again. The zero Cursor is the beginning.
type Cursor struct {
	Time   time.Time `json:"time"`
	Nth    int       `json:"nth"`    // among the lines of the same time, from 1
	Sum    uint32    `json:"sum"`    // CRC-32C of its content
	Offset int64     `json:"offset"` // bytes that the sink has up to its end
	Max    time.Time `json:"max"`    // the latest time of all lines so far
	// Lost says that it was not found, and a gap told, since there was a later line.
	Lost bool `json:"lost,omitempty"`
	// Done says that the log is complete.
	Done bool `json:"done,omitempty"`
}

func (c Cursor) zero() bool { return c.Time.IsZero() }

// since is the whole second to ask for.
func (c Cursor) since() time.Time {
	if c.zero() {
		return time.Time{}
	}
	return c.Time.Add(-slack).Truncate(time.Second)
}

// next is the cursor at the end of a line.
func (c Cursor) next(l line, end int64) Cursor {
	n := Cursor{Time: l.time, Nth: 1, Sum: l.sum, Offset: end, Max: c.Max}
	if l.time.Equal(c.Time) {
		n.Nth = c.Nth + 1
	}
	if l.time.After(n.Max) {
		n.Max = l.time
	}
	return n
}

// line is what is known of a line that passes.
type line struct {
	time time.Time
	sum  uint32
}

// add takes a piece of a line.
func (l *line) add(p piece) {
	if p.first {
		*l = line{time: p.time}
	}
	l.sum = crc32.Update(l.sum, crc32.MakeTable(crc32.Castagnoli), p.data)
}
