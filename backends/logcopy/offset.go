package logcopy

import (
	"errors"
	"time"

	"torchx/runtime/logstore"
)

const (
	// cursorInterval is the least time between two cursors.
	cursorInterval = 100 * time.Millisecond
	// tailMargin is how many entries a followed stream may have missed. The end of the log
	// is then read alone, because engines scan everything before it line by line.
	tailMargin = 1000
)

// OffsetCursor is a place in the remote log and in the sink: all entries from Since on
// are in the sink from Offsets on. Since is the time of an entry, which shows whether
// the source still has it. The zero cursor is the beginning of the log.
type OffsetCursor struct {
	Since   time.Time `json:"since"`
	Offsets [2]int64  `json:"offsets"`        // of stdout and stderr
	Done    bool      `json:"done,omitempty"` // the log is complete
}

// OffsetPosition is a position in a log of two streams: a time, and the bytes after it.
type OffsetPosition struct {
	Cursor OffsetCursor

	marks     marker
	skip      [2]int64  // bytes of each stream that are sent again
	dropUntil time.Time // drop entries up to it; set if the source no longer has the cursor's entry
	started   bool      // the current answer has sent an entry
	first     time.Time // of the first entry of the whole log
	tailOnly  bool      // only the end of the log was requested
	needAll   bool      // the end did not reach back to the cursor: request all
	dirty     bool      // the cursor has changed
}

// NewOffsetPosition returns the position of a cursor.
func NewOffsetPosition(c OffsetCursor) *OffsetPosition { return &OffsetPosition{Cursor: c} }

// errTailTooShort is returned if the end of the log, read alone, does not reach back to
// the cursor. The next stream requests everything after the cursor.
var errTailTooShort = errors.New("the end of the log does not reach back to the cursor")

func (o *OffsetPosition) options(follow bool) (from Options) {
	from.Since = o.Cursor.Since
	if o.tailOnly = !follow && !o.needAll && !o.expected().IsZero(); o.tailOnly {
		from.Tail = int64(o.marks.sinceCursor() + tailMargin)
	}
	o.needAll = false
	return from
}

func (o *OffsetPosition) begin(to Sink, _ bool) {
	sizes := to.Sizes()
	o.marks = marker{end: o.Cursor.Offsets, lastCursor: o.Cursor.Since}
	o.skip = [2]int64{sizes[0] - o.Cursor.Offsets[0], sizes[1] - o.Cursor.Offsets[1]}
	o.dropUntil, o.started = time.Time{}, false
}

func (o *OffsetPosition) searching() bool { return false }

func (o *OffsetPosition) complete() bool { return o.Cursor.Done }

func (o *OffsetPosition) stopSearch(*copier, string) error { return nil }

func (o *OffsetPosition) finish(*copier, *Entry) error {
	o.Cursor.Done, o.dirty = true, true
	return nil
}

func (o *OffsetPosition) changed() (is bool) {
	is, o.dirty = o.dirty, false
	return is
}

func (o *OffsetPosition) consume(c *copier, e Entry) error {
	known, err := o.isDuplicate(c, e)
	if err != nil || known {
		return err
	}
	if err := c.write(e); err != nil {
		return err
	}
	o.advance(e)
	return nil
}

// isDuplicate reports whether the sink already has the entry.
func (o *OffsetPosition) isDuplicate(c *copier, e Entry) (bool, error) {
	want := o.expected()
	missing := !o.started && !want.IsZero() && !e.Time.Equal(want)
	o.started = true
	if o.tailOnly && missing {
		o.needAll = true
		return false, errTailTooShort
	}
	if o.first.IsZero() && o.Cursor.Since.IsZero() {
		o.first = e.Time
	}
	size := int64(len(e.Data))
	switch left := o.skip[e.Stream]; {
	case missing, left > 0 && left < size:
		o.dropUntil, o.skip = c.to.Last(), [2]int64{}
	case left > 0:
		o.skip[e.Stream] -= size
		o.advance(e)
		return true, nil
	}
	switch {
	case o.dropUntil.IsZero():
		return false, nil
	case !e.Time.After(o.dropUntil):
		return true, nil
	}
	o.dropUntil = time.Time{}
	return false, o.skipRotated(c, e.Time)
}

// expected returns the time of the first entry if nothing was rotated away; zero if it
// is not known.
func (o *OffsetPosition) expected() time.Time {
	if !o.Cursor.Since.IsZero() {
		return o.Cursor.Since
	}
	return o.first
}

// skipRotated notes a gap and moves the cursor behind it, to the first entry that the
// source still has.
func (o *OffsetPosition) skipRotated(c *copier, first time.Time) error {
	if err := c.gap(GapRotated); err != nil {
		return err
	}
	o.Cursor = OffsetCursor{Since: first, Offsets: c.to.Sizes()}
	o.marks = marker{end: o.Cursor.Offsets, lastCursor: first}
	return wrapSink(c.to.Commit(true, true))
}

// advance counts an entry and moves the cursor if the entry confirms the next one.
func (o *OffsetPosition) advance(e Entry) {
	if confirmed := o.marks.add(e.Stream, e.Time, len(e.Data)); confirmed != nil {
		o.Cursor, o.dirty = *confirmed, true
	}
}

func (o *OffsetPosition) shift(before, after [2]int64) (moved bool) {
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

// marker finds cursors while entries are read. Times within a stream never decrease.
type marker struct {
	last       [2]time.Time  // of each stream
	end        [2]int64      // offset after the last entry
	pending    *OffsetCursor // not confirmed: entries before it may still come
	lastCursor time.Time     // time of the last cursor

	total, atPending, atCursor int // entries: all, before pending, before the last cursor
}

// sinceCursor returns the number of entries since the last cursor.
func (m *marker) sinceCursor() int { return m.total - m.atCursor }

// add counts an entry. It returns the pending cursor if the entry confirms it, else nil.
func (m *marker) add(s logstore.Stream, t time.Time, size int) (confirmed *OffsetCursor) {
	if p := m.pending; p != nil {
		switch {
		case t.Before(p.Since):
			p.Offsets[s] += int64(size)
		case t.Sub(p.Since) > maxReorder:
			confirmed, m.pending, m.lastCursor, m.atCursor = p, nil, p.Since, m.atPending
		}
	}
	if m.pending == nil && t.After(m.last[s]) && t.After(m.last[1-s]) &&
		t.Sub(m.lastCursor) >= cursorInterval {
		m.pending, m.atPending = &OffsetCursor{Since: t, Offsets: m.end}, m.total
	}
	m.total++
	m.last[s] = t
	m.end[s] += int64(size)
	return confirmed
}
