package metrics

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"torchx/runtime/filelock"
	"torchx/runtime/pattern"
	"torchx/runtime/safefile"
)

// Folder is the folder of the metrics in an app's folder.
const Folder = "metrics"

// Files are the files of Folder that a copy needs, in an order that suits a copy of a growing store:
// readers apply the frames that the index lacks.
var Files = []string{Folder + "/" + indexFile, Folder + "/" + pointsFile}

// Names in it.
const (
	pointsFile = "points.dat"
	indexFile  = "index.dat"
	lockFile   = "lock"
)

// The index is replaced when indexEvery bytes of points follow it, and by Close if there are more
// than indexLeast: fewer are read faster than an index.
const (
	indexEvery = 1 << 20
	indexLeast = 64 << 10
)

// Store writes the metrics of one app. It is not safe for concurrent use.
type Store struct {
	dir   string // the app's folder
	lock  *filelock.Lock
	file  *os.File
	state *state

	dirty     []int // series with pending points
	framed    int   // series that are in a frame
	changed   map[issueKey]bool
	unwritten []byte // the frame of a Flush that failed
	indexed   int64  // offset of the index
	indexSize int64
	full      bool // points.dat has reached its limit
	completed bool // what the frames say
}

// Open opens the metrics of an app for writing. What a killed writer left unfinished is cut
// off. Errors: filelock.ErrHeld if another process has them open.
func Open(dir string) (*Store, error) {
	path := filepath.Join(dir, Folder)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := safefile.CheckFolder(path); err != nil {
		return nil, err
	}
	lock, err := filelock.TryAcquire(filepath.Join(path, lockFile))
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, lock: lock, changed: map[issueKey]bool{}}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	return s, nil
}

func (s *Store) open() (err error) {
	s.file, err = safefile.OpenFile(s.path(pointsFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.state, s.indexSize = loadIndex(s.dir)
	s.indexed = s.state.offset
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if s.state.offset > info.Size() { // a power cut took points that the index knows
		s.state, s.indexed = newState(), 0
	}
	if s.state.offset == 0 {
		s.state.offset = int64(len(pointsMagic))
		magic := make([]byte, len(pointsMagic))
		if n, _ := s.file.ReadAt(magic, 0); string(magic[:n]) != pointsMagic {
			err = errors.Join(s.file.Truncate(0), writeAt(s.file, []byte(pointsMagic), 0))
		}
		if err != nil {
			return err
		}
	}
	err = s.state.follow(s.file)
	if err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	s.framed, s.full, s.completed = len(s.state.series), s.state.offset >= maxStored, s.state.complete
	// Sources are read again from the positions of the last whole frame.
	return s.file.Truncate(s.state.offset)
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, Folder, name) }

func writeAt(f *os.File, b []byte, offset int64) error {
	_, err := f.WriteAt(b, offset)
	return err
}

// Position returns the last recorded position of a source, nil if there is none.
func (s *Store) Position(source string) []byte { return s.state.positions[source] }

// Complete reports whether SetComplete was recorded.
func (s *Store) Complete() bool { return s.state.complete }

// SetComplete records with the next Flush that all sources were read to their end.
func (s *Store) SetComplete(complete bool) { s.state.complete = complete }

// Summaries returns the state of all series, including points that are not flushed.
func (s *Store) Summaries() []Summary { return s.state.summaries() }

// Add implements Sink.
func (s *Store) Add(k Key, p Point, source string) {
	n, id := (*series)(nil), 0
	if pattern.ValidName(k.Name) {
		n, id = s.state.find(seriesKey{k, source})
	}
	if n == nil {
		i := issueKey{k.Role, k.Replica, source}
		s.state.issue(i).Dropped++
		s.changed[i] = true
		return
	}
	attempt, starts := p.Segment, n.startsSegment(&p)
	if n.pending.count == 0 {
		n.pending = section{data: n.pending.data[:0], segment: n.segment}
		s.dirty = append(s.dirty, id)
	}
	n.pending.attempt = attempt
	n.pending.add(&p, starts)
	p.Segment = n.segment
	if starts {
		p.Segment++
	}
	n.add(&p, s.state.bucketLimit())
	n.attempt = attempt
}

// Broken implements Reporter.
func (s *Store) Broken(role string, replica int, source string, n int64, reason string) {
	k := issueKey{role, replica, source}
	i := s.state.issue(k)
	i.Broken, i.Reason = i.Broken+n, reason
	s.changed[k] = true
}

// Flush writes what was added, together with the positions of the sources after it. If it
// fails, nothing may be added before a later Flush succeeds.
func (s *Store) Flush(positions map[string][]byte) error {
	payload := s.takePayload(positions)
	maps.Copy(s.state.positions, positions)
	if s.full {
		if len(payload) > 0 {
			return s.writeIndex()
		}
		return nil
	}
	if len(payload) > 0 {
		s.unwritten = append(s.unwritten, sealed(payload)...)
	}
	if len(s.unwritten) == 0 {
		return nil
	}
	if err := writeAt(s.file, s.unwritten, s.state.offset); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	s.state.offset += int64(len(s.unwritten))
	s.unwritten = nil
	s.full = s.state.offset >= maxStored
	if s.state.offset-s.indexed > max(indexEvery, 2*s.indexSize) {
		return s.writeIndex()
	}
	return nil
}

// takePayload encodes what was added since the last Flush.
func (s *Store) takePayload(positions map[string][]byte) []byte {
	var b []byte
	for ; s.framed < len(s.state.series); s.framed++ {
		b = appendSeries(b, s.framed, s.state.series[s.framed].seriesKey)
	}
	for _, id := range s.dirty {
		n := s.state.series[id]
		b = n.pending.append(b, id)
		n.pending.count = 0
	}
	s.dirty = s.dirty[:0]
	for k := range s.changed {
		b = appendIssue(b, s.state.issues[k])
	}
	clear(s.changed)
	for name, value := range positions {
		if string(value) != string(s.state.positions[name]) {
			b = appendPosition(b, name, value)
		}
	}
	if s.state.complete != s.completed {
		s.completed = s.state.complete
		b = appendCompleted(b, s.completed)
	}
	return b
}

// Close releases the metrics. Points that were not flushed are lost: their source is read
// again.
func (s *Store) Close() error {
	var err error
	if s.state.offset > s.indexed+indexLeast && len(s.unwritten) == 0 && len(s.dirty) == 0 {
		err = s.writeIndex()
	}
	return errors.Join(err, s.closeFiles())
}

func (s *Store) closeFiles() error {
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	return errors.Join(err, s.lock.Close())
}

// follow applies the frames after the state's offset, up to the end of the file or a frame that
// is not finished. Errors: errDamaged.
func (s *state) follow(f *os.File) error {
	return frames(f, s.offset, func(payload []byte, end int64) error {
		s.offset = end
		return s.apply(payload)
	})
}

// frames calls f for each whole frame from offset on. Errors: errDamaged if a frame that others
// follow is damaged, and those of f.
func frames(file *os.File, offset int64, f func(payload []byte, end int64) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r := io.NewSectionReader(file, offset, max(0, info.Size()-offset))
	var buf []byte
	for offset < info.Size() {
		payload, err := readFrame(r, &buf, info.Size()-offset)
		if payload == nil || err != nil {
			return err
		}
		offset += frameHeader + int64(len(payload))
		if err := f(payload, offset); err != nil {
			return err
		}
	}
	return nil
}
