package logcopy

import (
	"errors"
	"time"

	"torchx/runtime/logstore"
)

const (
	// settleTime is by how much entries of the two streams can be out of order: the
	// source takes the time of each before it writes them one after the other.
	settleTime = time.Second
	// cursorStep is the least time between two cursors.
	cursorStep = 100 * time.Millisecond
	// tailSlack is how many entries the source may not have sent while it followed: the
	// end is read without what is before, which engines look through line by line.
	tailSlack = 1000
)

// OffsetCursor is a place in the remote log and in the sink: all entries from Since on
// stand from those offsets on. Since is the time of an entry, so that one can see
// whether the source still has it. The zero cursor is the beginning.
type OffsetCursor struct {
	Since   time.Time `json:"since"`
	Offsets [2]int64  `json:"offsets"`        // of stdout and stderr
	Done    bool      `json:"done,omitempty"` // the log is complete
}

// Offset is a position in a log of two streams, by a time and the bytes behind it.
type OffsetPosition struct {
	Cursor OffsetCursor

	marks   marker
	skip    [2]int64  // bytes of the streams that are sent again
	until   time.Time // entries up to it are dropped; set if the source lost the cursor's entry
	begun   bool      // an entry of this stream has come
	first   time.Time // of the first entry of the whole log
	limited bool      // only the end of the log was asked for
	whole   bool      // … which did not reach back to the cursor
	new     bool      // the cursor has changed
}

// NewOffsetPosition returns the position of a cursor.
func NewOffsetPosition(c OffsetCursor) *OffsetPosition { return &OffsetPosition{Cursor: c} }

// errTooShort says that the end of the log, which was read, does not reach back to
// the cursor: the next stream has all.
var errTooShort = errors.New("the end of the log is not enough")

func (o *OffsetPosition) start(follow bool) (from Options) {
	from.Since = o.Cursor.Since
	if o.limited = !follow && !o.whole && !o.expected().IsZero(); o.limited {
		from.Tail = int64(o.marks.count() + tailSlack)
	}
	o.whole = false
	return from
}

func (o *OffsetPosition) begin(to Sink) {
	sizes := to.Sizes()
	o.marks = marker{end: o.Cursor.Offsets, ready: o.Cursor.Since}
	o.skip = [2]int64{sizes[0] - o.Cursor.Offsets[0], sizes[1] - o.Cursor.Offsets[1]}
	o.until, o.begun = time.Time{}, false
}

func (o *OffsetPosition) searching() bool { return false }

func (o *OffsetPosition) complete() bool { return o.Cursor.Done }

func (o *OffsetPosition) lose(*copier) error { return nil }

func (o *OffsetPosition) finish(*copier, *Entry) error {
	o.Cursor.Done, o.new = true, true
	return nil
}

func (o *OffsetPosition) changed() (is bool) {
	is, o.new = o.new, false
	return is
}

func (o *OffsetPosition) take(c *copier, p Entry) error {
	known, err := o.known(c, p)
	if err != nil || known {
		return err
	}
	if err := c.write(p); err != nil {
		return err
	}
	o.mark(p)
	return nil
}

// known reports whether the sink has an entry.
func (o *OffsetPosition) known(c *copier, p Entry) (bool, error) {
	want := o.expected()
	missing := !o.begun && !want.IsZero() && !p.Time.Equal(want)
	o.begun = true
	if o.limited && missing {
		o.whole = true
		return false, errTooShort
	}
	if o.first.IsZero() && o.Cursor.Since.IsZero() {
		o.first = p.Time
	}
	size := int64(len(p.Data))
	switch left := o.skip[p.Stream]; {
	case missing, left > 0 && left < size:
		o.until, o.skip = c.to.Last(), [2]int64{}
	case left > 0:
		o.skip[p.Stream] -= size
		o.mark(p)
		return true, nil
	}
	switch {
	case o.until.IsZero():
		return false, nil
	case !p.Time.After(o.until):
		return true, nil
	}
	o.until = time.Time{}
	return false, o.rotated(c, p.Time)
}

// expected is the time of the first entry that is sent again; zero if any may be.
func (o *OffsetPosition) expected() time.Time {
	if !o.Cursor.Since.IsZero() {
		return o.Cursor.Since
	}
	return o.first
}

// rotated notes that the source threw away what came after the cursor.
func (o *OffsetPosition) rotated(c *copier, first time.Time) error {
	if err := c.gap(GapRotated); err != nil {
		return err
	}
	o.Cursor = OffsetCursor{Since: first, Offsets: c.to.Sizes()}
	o.marks = marker{end: o.Cursor.Offsets, ready: first}
	return ofSink(c.to.Commit(true, true))
}

// mark keeps the cursor that an entry makes sure.
func (o *OffsetPosition) mark(p Entry) {
	if sure := o.marks.pass(p.Stream, p.Time, len(p.Data)); sure != nil {
		o.Cursor, o.new = *sure, true
	}
}

func (o *OffsetPosition) move(before, after [2]int64) (moved bool) {
	for s := range before {
		n := after[s] - before[s]
		moved = moved || n != 0
		o.Cursor.Offsets[s] += n
		o.marks.end[s] += n
		if o.marks.pending != nil {
			o.marks.pending.Offsets[s] += n
		}
	}
	return moved
}

// marker finds cursors while entries pass. Within a stream times never go back.
type marker struct {
	last    [2]time.Time  // of each stream
	end     [2]int64      // offset after the last entry
	pending *OffsetCursor // entries before it may still come
	ready   time.Time     // time of the last cursor

	passed, at, from int // entries: all, before pending, before the last cursor
}

// count returns how many entries came since the last cursor.
func (m *marker) count() int { return m.passed - m.from }

// pass notes an entry, and returns a cursor that is sure now.
func (m *marker) pass(s logstore.Stream, t time.Time, size int) (sure *OffsetCursor) {
	if p := m.pending; p != nil {
		switch {
		case t.Before(p.Since):
			p.Offsets[s] += int64(size)
		case t.Sub(p.Since) > settleTime:
			sure, m.pending, m.ready, m.from = p, nil, p.Since, m.at
		}
	}
	if m.pending == nil && t.After(m.last[s]) && t.After(m.last[1-s]) && t.Sub(m.ready) >= cursorStep {
		m.pending, m.at = &OffsetCursor{Since: t, Offsets: m.end}, m.passed
	}
	m.passed++
	m.last[s] = t
	m.end[s] += int64(size)
	return sure
}
