package metrics

import (
	"cmp"
	"fmt"
	"path/filepath"
)

// Follower reads the points that are added to an app's Folder, each once: of some names, and of
// each name the main series only. The main series is that of the first role, the first replica and
// the first source that have the name so far. The zero position is the beginning, so that a new
// Follower reads the same points again.
type Follower struct {
	dir    string // the app's folder
	names  []string
	offset int64 // of the next frame
	series map[uint64]followed
	main   []uint64 // by name: ID of the main series
	known  []bool   // by name: there is a main series
	err    error    // the damage that ends the points
}

// followed is a series that has one of the names.
type followed struct {
	seriesKey
	name int // index of names
}

// Follow returns a follower of the metrics in an app's folder. It reads nothing.
func Follow(dir string, names ...string) *Follower {
	f := &Follower{dir: dir, names: names}
	f.rewind()
	return f
}

func (f *Follower) rewind() {
	f.offset, f.err = int64(len(pointsMagic)), nil
	f.series, f.main, f.known = map[uint64]followed{}, make([]uint64, len(f.names)), make([]bool, len(f.names))
}

// Read calls visit for each new point, with the index of its name; reset means that earlier points
// of that name do not count: a replica before theirs has the name, or the metrics were lost. It
// returns an error once points are damaged, again at each call.
func (f *Follower) Read(visit func(name int, p *Point), reset func(name int)) error {
	if f.err != nil {
		return f.err
	}
	file, err := openPoints(f.dir)
	if file == nil || err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < f.offset && f.offset > int64(len(pointsMagic)) {
		f.rewind()
		for name := range f.names {
			reset(name)
		}
	}
	v := f.visitor(visit, reset)
	err = frames(file, f.offset, func(payload []byte, end int64) error {
		if err := v.visit(payload); err != nil {
			return err
		}
		f.offset = end
		return nil
	})
	if err != nil {
		f.err = fmt.Errorf("%s after byte %d: %w",
			filepath.Join(f.dir, Folder, pointsFile), f.offset, err)
	}
	return f.err
}

func (f *Follower) visitor(visit func(name int, p *Point), reset func(name int)) visitor {
	return visitor{
		series: func(id uint64, k seriesKey) { f.add(id, k, reset) },
		points: func(id uint64, each func(func(*Point) bool)) bool {
			if s, ok := f.series[id]; ok && f.main[s.name] == id {
				each(func(p *Point) bool {
					visit(s.name, p)
					return true
				})
			}
			return true
		},
		completed: func(bool) {},
	}
}

// add adds a series if it has one of the names.
func (f *Follower) add(id uint64, k seriesKey, reset func(name int)) {
	for i, name := range f.names {
		_, suffix := split(k.source)
		if k.Name != name && k.Name+"@"+suffix != name {
			continue
		}
		before := f.series[f.main[i]]
		f.series[id] = followed{k, i}
		if f.known[i] && !k.precedes(before.seriesKey) {
			continue
		}
		if f.known[i] {
			reset(i)
		}
		f.main[i], f.known[i] = id, true
	}
}

// precedes reports whether k is the main series instead of o.
func (k seriesKey) precedes(o seriesKey) bool {
	return cmp.Or(cmp.Compare(k.Role, o.Role), cmp.Compare(k.Replica, o.Replica), cmp.Compare(precedence(k.source), precedence(o.source))) < 0
}
