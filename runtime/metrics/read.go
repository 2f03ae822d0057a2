package metrics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"

	"torchx/runtime/safefile"
)

// readFrame reads the next frame of a file that has left more bytes; nil at its end, also if
// the last frame is not finished.
func readFrame(r io.Reader, buf *[]byte, left int64) ([]byte, error) {
	var head [frameHeader]byte
	if left < frameHeader {
		return nil, nil
	}
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	left -= frameHeader
	if n == 0 || n > maxFrame {
		return nil, errDamaged
	}
	if n > left {
		return nil, nil
	}
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	payload := (*buf)[:n]
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	if crc32.Checksum(payload, castagnoli()) != binary.LittleEndian.Uint32(head[4:]) {
		if n == left {
			return nil, nil // the last one is being written
		}
		return nil, errDamaged
	}
	return payload, nil
}

// openPoints opens an app's points for reading; nil if it has none.
func openPoints(dir string) (*os.File, error) {
	if err := safefile.CheckFolder(filepath.Join(dir, Folder)); err != nil {
		return nil, err
	}
	f, err := safefile.Open(filepath.Join(dir, Folder, pointsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// load returns the state of an app. If points.dat is damaged, it returns the state before the
// damage and an error.
func load(dir string) (*state, error) {
	f, err := openPoints(dir)
	if f == nil || err != nil {
		return newState(), err
	}
	defer f.Close()
	s, _ := loadIndex(dir)
	if info, err := f.Stat(); err == nil && info.Size() < s.offset {
		s = newState()
	}
	if s.offset == 0 {
		s.offset = int64(len(pointsMagic))
	}
	err = s.follow(f)
	return s, describe(dir, s.offset, err)
}

func describe(dir string, offset int64, err error) error {
	if errors.Is(err, errDamaged) {
		return fmt.Errorf("%s is %w after byte %d: later points are missing",
			filepath.Join(dir, Folder, pointsFile), err, offset)
	}
	return err
}

// Summaries returns all series of an app in the order of roles, replicas and names; dir is the
// app's folder. If the points are damaged, it returns those before the damage and an error.
func Summaries(dir string) ([]Summary, error) {
	s, err := load(dir)
	return s.summaries(), err
}

// Issues returns what the sources of an app could not keep.
func Issues(dir string) ([]Issue, error) {
	s, err := load(dir)
	return s.allIssues(), err
}

// Complete reports whether all sources were read to their end.
func Complete(dir string) (bool, error) {
	s, err := load(dir)
	return s.complete, err
}

// Curves returns a summary of successive points of each series: at most 512 buckets each,
// without reading all points. Series without points are left out.
func Curves(dir string, keys ...Key) (map[Key][]Bucket, error) {
	s, err := load(dir)
	curves := map[Key][]Bucket{}
	for _, n := range s.named() {
		for _, k := range keys {
			if n.Key == k && n.series.count > 0 {
				curves[k] = n.series.buckets
			}
		}
	}
	return curves, err
}

// Points returns the points of a series in the order of arrival, each with its segment. The
// error, if any, comes last.
func Points(dir string, k Key) (iter.Seq2[Point, error], error) {
	s, err := load(dir)
	_, id := s.lookup(k)
	if id < 0 {
		return none(nil), err
	}
	return func(yield func(Point, error) bool) {
		if err := eachPoint(dir, id, func(p *Point) bool { return yield(*p, nil) }); err != nil && !errors.Is(err, errStop) {
			yield(Point{}, err)
		}
	}, nil
}

var errStop = errors.New("stop")

// eachPoint calls f for the points of a series. Errors: errStop if f returned false.
func eachPoint(dir string, id int, f func(*Point) bool) error {
	file, err := openPoints(dir)
	if file == nil || err != nil {
		return err
	}
	defer file.Close()
	last := int64(len(pointsMagic))
	err = frames(file, last, func(payload []byte, end int64) error {
		last = end
		return pointsOf(payload, uint64(id), f)
	})
	return describe(dir, last, err)
}

// pointsOf calls f for the points of a series in a frame. Errors: errStop if f returned false.
func pointsOf(payload []byte, id uint64, f func(*Point) bool) error {
	return visitor{
		series: func(uint64, seriesKey) {},
		points: func(of uint64, each func(f func(*Point) bool)) bool {
			goOn := true
			if of == id {
				each(func(p *Point) bool {
					goOn = f(p)
					return goOn
				})
			}
			return goOn
		},
		completed: func(bool) {},
	}.visit(payload)
}

// visitor gets what a frame adds.
type visitor struct {
	series func(id uint64, k seriesKey)
	// points gets a function that calls its argument for each point until that returns false.
	// If points returns false, the visit ends with errStop.
	points    func(id uint64, each func(f func(*Point) bool)) bool
	completed func(bool)
}

func (v visitor) visit(payload []byte) error {
	d := decoder{b: payload}
	for len(d.b) > 0 && !d.bad {
		switch d.byte() {
		case sectionPoints:
			id, size, segment, _, count := d.uvarint(), d.uvarint(), d.uvarint(), d.varint(), d.uvarint()
			part := decoder{b: d.bytes(size)}
			if !d.bad && !v.points(id, func(f func(*Point) bool) { part.points(segment, count, f) }) {
				return errStop
			}
		case sectionSeries:
			id := d.uvarint()
			k := seriesKey{Key{d.text(), int(d.varint()), d.text()}, d.text()}
			if !d.bad {
				v.series(id, k)
			}
		case sectionPosition:
			d.text()
			d.text()
		case sectionIssue:
			d.text()
			d.varint()
			d.text()
			d.varint()
			d.varint()
			d.text()
		case sectionCompleted:
			if isComplete := d.byte() == 1; !d.bad {
				v.completed(isComplete)
			}
		default:
			return errDamaged
		}
	}
	if d.bad {
		return errDamaged
	}
	return nil
}

// loadIndex returns the state that the index has, or an empty one: everything in the index can
// be found in the points again.
func loadIndex(dir string) (s *state, size int64) {
	data, err := safefile.ReadFile(filepath.Join(dir, Folder, indexFile), maxStored)
	head := len(indexMagic) + frameHeader
	if err != nil || len(data) < head || string(data[:len(indexMagic)]) != indexMagic {
		return newState(), 0
	}
	sum, payload := data[len(indexMagic):head], data[head:]
	if int(binary.LittleEndian.Uint32(sum)) != len(payload) ||
		binary.LittleEndian.Uint32(sum[4:]) != crc32.Checksum(payload, castagnoli()) {
		return newState(), 0
	}
	s = newState()
	if s.decode(payload) != nil {
		return newState(), 0
	}
	return s, int64(len(data))
}

// writeIndex replaces the index.
func (s *Store) writeIndex() error {
	data := append([]byte(indexMagic), sealed(s.state.encode())...)
	f, err := os.CreateTemp(filepath.Join(s.dir, Folder), ".index-")
	if err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.path(indexFile))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write metrics: %w", err), os.Remove(f.Name()))
	}
	s.indexed, s.indexSize = s.state.offset, int64(len(data))
	return nil
}

// encode returns the content of the index: the offset, then the state as in frames, with a
// summary and buckets after each series.
func (s *state) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(s.offset))
	for id, n := range s.series {
		b = n.encode(appendSeries(b, id, n.seriesKey))
	}
	for _, i := range s.issues {
		b = appendIssue(b, i)
	}
	for name, value := range s.positions {
		b = appendPosition(b, name, value)
	}
	return appendCompleted(b, s.complete)
}

func (n *series) encode(b []byte) []byte {
	for _, v := range []int64{
		n.count, n.nonFinite, int64(n.segment), int64(n.attempt), n.lastStep, int64(toInt(n.hasStep)), n.firstTime, n.lastTime, n.width, int64(len(n.buckets)),
	} {
		b = binary.AppendVarint(b, v)
	}
	b = appendFloats(b, n.first, n.last, n.min, n.max)
	for i := range n.buckets {
		k := &n.buckets[i]
		for _, v := range []int64{k.Count, k.NonFinite, int64(k.Segment), k.FirstStep, k.LastStep, int64(toInt(k.HasStep)), k.FirstTime, k.LastTime} {
			b = binary.AppendVarint(b, v)
		}
		b = appendFloats(b, k.First, k.Last, k.Min, k.Max)
	}
	return b
}

func appendFloats(b []byte, all ...float64) []byte {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *state) decode(payload []byte) error {
	d := decoder{b: payload}
	s.offset = int64(d.uvarint())
	for !d.bad && len(d.b) > 0 && d.b[0] == sectionSeries {
		d.byte()
		d.uvarint()
		k := seriesKey{Key{d.text(), int(d.varint()), d.text()}, d.text()}
		if !d.bad {
			s.create(k).decode(&d)
		}
	}
	if d.bad || s.offset < 0 {
		return errDamaged
	}
	return s.apply(d.b)
}

func (n *series) decode(d *decoder) {
	n.count, n.nonFinite, n.segment, n.attempt = d.varint(), d.varint(), int(d.varint()), int(d.varint())
	n.lastStep, n.hasStep, n.firstTime, n.lastTime = d.varint(), d.varint() == 1, d.varint(), d.varint()
	n.width = d.varint()
	buckets := d.varint()
	n.first, n.last, n.min, n.max = d.float(), d.float(), d.float(), d.float()
	if buckets < 0 || buckets > 2*maxBuckets {
		d.fail()
		return
	}
	n.buckets = make([]Bucket, buckets)
	for i := range n.buckets {
		k := &n.buckets[i]
		k.Count, k.NonFinite, k.Segment = d.varint(), d.varint(), int(d.varint())
		k.FirstStep, k.LastStep, k.HasStep = d.varint(), d.varint(), d.varint() == 1
		k.FirstTime, k.LastTime = d.varint(), d.varint()
		k.First, k.Last, k.Min, k.Max = d.float(), d.float(), d.float(), d.float()
	}
}
