package metrics

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"time"
)

const (
	pointsMagic = "TXMTRC01"
	indexMagic  = "TXMTRX01"
	frameHeader = 8        // bytes
	maxFrame    = 64 << 20 // bytes; a longer one is damaged
)

// Sections of a frame, and of the index.
const (
	sectionSeries    = 1 // ID, role, replica, name, source
	sectionPoints    = 2 // ID, size, first segment, attempt, number, points
	sectionPosition  = 3 // name, value
	sectionIssue     = 4 // role, replica, source, totals, reason
	sectionCompleted = 5 // 1 or 0
)

// Flags of a point.
const (
	flagStep    = 1 // has a step
	flagSegment = 2 // begins a segment
	flagShort   = 4 // the value is a float32
)

var errDamaged = errors.New("damaged")

// castagnoli returns the table, which is made on first use: it would slow the start of every
// command.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// section holds the encoded points of a series for the next frame. Times and steps are
// differences to the point before, so that most take few bytes.
type section struct {
	data    []byte
	segment int // before the first point
	attempt int // of the last point
	count   int
	time    int64 // of the last point
	step    int64
}

func (s *section) add(p *Point, starts bool) {
	t := p.Time.UnixNano()
	flags := byte(0)
	if p.HasStep {
		flags |= flagStep
	}
	if starts {
		flags |= flagSegment
	}
	short := float32(p.Value)
	if math.Float64bits(float64(short)) == math.Float64bits(p.Value) {
		flags |= flagShort
	}
	s.data = append(s.data, flags)
	s.data = binary.AppendVarint(s.data, t-s.time)
	if p.HasStep {
		s.data = binary.AppendVarint(s.data, p.Step-s.step)
		s.step = p.Step
	}
	if flags&flagShort != 0 {
		s.data = binary.LittleEndian.AppendUint32(s.data, math.Float32bits(short))
	} else {
		s.data = binary.LittleEndian.AppendUint64(s.data, math.Float64bits(p.Value))
	}
	s.time = t
	s.count++
}

func (s *section) append(b []byte, id int) []byte {
	if s.count == 0 {
		return b
	}
	b = binary.AppendUvarint(append(b, sectionPoints), uint64(id))
	b = binary.AppendUvarint(b, uint64(len(s.data)))
	b = binary.AppendUvarint(b, uint64(s.segment))
	b = binary.AppendVarint(b, int64(s.attempt))
	b = binary.AppendUvarint(b, uint64(s.count))
	return append(b, s.data...)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// sealed returns a frame, or the content of the index, around a payload.
func sealed(payload []byte) []byte {
	b := make([]byte, frameHeader, frameHeader+len(payload))
	binary.LittleEndian.PutUint32(b, uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(payload, castagnoli()))
	return append(b, payload...)
}

// decoder reads a payload. After a mistake all values are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() { d.b, d.bad = nil, true }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) text() string { return string(d.bytes(d.uvarint())) }

func (d *decoder) float() float64 {
	if b := d.bytes(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) short() float64 {
	if b := d.bytes(4); b != nil {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return 0
}

// points calls f for each point of a section, until it returns false.
func (d *decoder) points(segment, count uint64, f func(*Point) bool) {
	var t, step int64
	p := Point{Segment: int(segment)}
	for range count {
		flags := d.byte()
		t += d.varint()
		p.HasStep = flags&flagStep != 0
		p.Step = 0
		if p.HasStep {
			step += d.varint()
			p.Step = step
		}
		if flags&flagSegment != 0 {
			p.Segment++
		}
		if flags&flagShort != 0 {
			p.Value = d.short()
		} else {
			p.Value = d.float()
		}
		p.Time = time.Unix(0, t).UTC()
		if d.bad || !f(&p) {
			return
		}
	}
}

// apply adds a frame to the state. Errors: errDamaged.
func (s *state) apply(payload []byte) error {
	d := decoder{b: payload}
	for len(d.b) > 0 && !d.bad {
		switch d.byte() {
		case sectionSeries:
			id := d.uvarint()
			k := seriesKey{Key{d.text(), int(d.varint()), d.text()}, d.text()}
			if d.bad || id != uint64(len(s.series)) {
				return errDamaged
			}
			s.create(k)
		case sectionPoints:
			s.applyPoints(&d)
		case sectionPosition:
			name := d.text()
			s.positions[name] = []byte(d.text())
		case sectionIssue:
			k := issueKey{d.text(), int(d.varint()), d.text()}
			i := s.issue(k)
			i.Broken, i.Dropped, i.Reason = d.varint(), d.varint(), d.text()
		case sectionCompleted:
			s.complete = d.byte() == 1
		default:
			return errDamaged
		}
	}
	if d.bad {
		return errDamaged
	}
	return nil
}

func (s *state) applyPoints(d *decoder) {
	id, _, segment, attempt, count := d.uvarint(), d.uvarint(), d.uvarint(), d.varint(), d.uvarint()
	if id >= uint64(len(s.series)) {
		d.fail()
		return
	}
	n, limit := s.series[id], s.bucketLimit()
	d.points(segment, count, func(p *Point) bool {
		n.add(p, limit)
		return true
	})
	n.attempt = int(attempt)
}

// appendIssue and appendPosition add sections.
func appendIssue(b []byte, i *Issue) []byte {
	b = appendText(append(b, sectionIssue), i.Role)
	b = binary.AppendVarint(b, int64(i.Replica))
	b = appendText(b, i.Source)
	b = binary.AppendVarint(b, i.Broken)
	b = binary.AppendVarint(b, i.Dropped)
	return appendText(b, i.Reason)
}

func appendPosition(b []byte, name string, value []byte) []byte {
	return appendText(appendText(append(b, sectionPosition), name), string(value))
}

func appendSeries(b []byte, id int, k seriesKey) []byte {
	b = binary.AppendUvarint(append(b, sectionSeries), uint64(id))
	b = appendText(b, k.Role)
	b = binary.AppendVarint(b, int64(k.Replica))
	return appendText(appendText(b, k.Name), k.source)
}

func appendCompleted(b []byte, complete bool) []byte {
	if complete {
		return append(b, sectionCompleted, 1)
	}
	return append(b, sectionCompleted, 0)
}
