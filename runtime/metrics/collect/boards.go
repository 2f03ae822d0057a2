package collect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"torchx/runtime/metrics"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
	"torchx/runtime/tfevents"
)

// Limits of the search for TensorBoard files in the folder of outputs.
const (
	maxEntries  = 20_000
	maxBoards   = 1000
	maxLevels   = 10
	searchEvery = 2 * time.Second
	searchShare = 20 // a search may take a twentieth of the time
)

// maxBoard limits what is read of one TensorBoard file in bytes: a job may write without end, and
// an event with a hole of 1 TiB costs it nothing. It is above maxFile as events may have images.
const maxBoard = 4 << 30

// boards are the TensorBoard files of an app. All replicas share the folder, so the files count
// as those of replica 0 of the first role.
type boards struct {
	collector *Collector
	files     map[string]*board // by path below the folder
	order     []string
	next      time.Time // of the next search
}

// board is one file.
type board struct {
	key    string
	source string
	opened bool
	at     boardPosition
	seen   int64 // size when it was last read
}

// boardPosition is how far a file has been read.
type boardPosition struct {
	Offset  int64 `json:"offset"`
	Damaged bool  `json:"damaged,omitempty"` // what follows cannot be read
}

func (b *boards) read(attempts []Attempt, final bool) error {
	if b.collector.Output == "" {
		return nil
	}
	if begun := time.Now(); final || begun.After(b.next) {
		b.search()
		b.next = time.Now().Add(max(searchEvery, searchShare*time.Since(begun)))
	}
	var errs []error
	for _, name := range b.order {
		if err := b.readFile(name, b.files[name], attempts, final); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// search finds new files. It does not follow links.
func (b *boards) search() {
	entries := 0
	root := b.collector.Output
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // what cannot be read is left out
		if entries++; entries > maxEntries || len(b.files) >= maxBoards {
			return filepath.SkipAll
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil, d.IsDir() && strings.Count(name, string(filepath.Separator)) >= maxLevels:
			return filepath.SkipDir
		case !d.Type().IsRegular() || !tfevents.IsFile(d.Name()) || b.files[name] != nil:
			return nil
		}
		b.files[name] = &board{key: "board/" + name, source: metrics.OfFolder(filepath.ToSlash(filepath.Dir(name)))}
		b.order = append(b.order, name)
		return nil
	})
	slices.Sort(b.order) // names begin with the time of their creation
}

func (b *boards) readFile(name string, f *board, attempts []Attempt, final bool) error {
	path := filepath.Join(b.collector.Output, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == f.seen {
		return nil
	}
	if err != nil {
		return err
	}
	store, err := b.collector.open()
	if err != nil {
		return err
	}
	if !f.opened {
		if err := decode(store.Position(f.key), &f.at); err != nil {
			return err
		}
		f.opened = true
	}
	if info.Size() < f.at.Offset {
		f.at = boardPosition{} // written anew
	}
	if f.at.Damaged {
		return nil
	}
	in, err := safefile.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	whole, err := b.readEvents(store, in, info.Size(), f, attempts, final)
	if whole {
		f.seen = info.Size()
	}
	return err
}

// readEvents reads the events of a file in parts, so that few points are kept in memory; whole
// means that nothing is left for the next round.
func (b *boards) readEvents(
	store *metrics.Store, in *os.File, size int64, f *board, attempts []Attempt, final bool,
) (whole bool, err error) {
	r := spec.Replica{Role: b.collector.App.Roles[0].Name}
	tooLarge, begin := size > maxBoard, f.at.Offset
	size = min(size, maxBoard)
	for part := int64(flushBytes); f.at.Offset < size && !f.at.Damaged; {
		if !final && f.at.Offset-begin >= roundBytes {
			return false, nil
		}
		to := min(size, f.at.Offset+part)
		next, broken, err := tfevents.Read(in, to, f.at.Offset, func(s tfevents.Scalar) {
			at := s.Time
			if at.IsZero() {
				at = time.Now()
			}
			store.Add(metrics.Key{Role: r.Role, Replica: r.ID, Name: s.Tag}, metrics.Point{
				Time: at, Step: s.Step, HasStep: true, Value: s.Value, Segment: attemptAt(attempts, r, at),
			}, f.source)
		})
		if broken > 0 {
			store.Broken(r.Role, r.ID, f.source, int64(broken), "not an event")
		}
		if errors.Is(err, tfevents.ErrDamaged) {
			store.Broken(r.Role, r.ID, f.source, 1, "the event file is damaged")
			f.at.Damaged, err = true, nil
		}
		if err != nil {
			return true, err
		}
		stuck := next == f.at.Offset
		f.at.Offset = next
		if err := b.collector.flush(f.key, encode(f.at)); err != nil {
			return true, err
		}
		if stuck && to == size {
			break // the last event is not finished
		}
		if stuck {
			part *= 2
		}
	}
	if !tooLarge || f.at.Damaged {
		return true, nil
	}
	store.Broken(r.Role, r.ID, f.source, 1,
		"the event file has more than 4 GiB: the rest is left out")
	f.at.Damaged = true
	return true, b.collector.flush(f.key, encode(f.at))
}
