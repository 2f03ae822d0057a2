package analysis

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"torchx/starlark/interp"
)

// load reports a file that cannot be loaded, and names that it does not have.
func (p *problems) load(s *syntax.LoadStmt) {
	if p.opener == nil {
		return
	}
	from, err := p.opener.Load(p.file, s.ModuleName())
	if err != nil {
		p.add(RuleLoad, s.Module, "%v", err)
		return
	}
	w := &loadWalk{problems: p, seen: map[string]bool{}}
	switch cycle := w.reaches(from); {
	case cycle:
		p.add(RuleLoad, s.Module, "load cycle: %s loads this file; move the shared code to a separate file", from.Name)
	case w.err != nil:
		p.add(RuleLoad, s.Module, "%s cannot be loaded: %v", from.Name, w.err)
	}
	var names []string
	for _, e := range from.Exports() {
		names = append(names, e.Name)
	}
	for i, name := range s.From {
		switch {
		case Private(name.Name):
			p.add(RuleLoad, s.From[i], "%s is private to %s: names that begin with _ cannot be loaded", name.Name, from.Name)
		case !slices.Contains(names, name.Name) && from.Err == nil:
			p.add(RuleLoad, s.From[i], "%s has no %s.%s", from.Name, name.Name,
				p.hint(name.Name, names))
		}
	}
}

// maxLoads bounds the files that are followed from one load.
const maxLoads = 2000

// loadWalk follows the loads of a loaded file.
type loadWalk struct {
	*problems
	seen map[string]bool // by the source's key
	err  error           // the first file that does not parse or cannot be loaded
}

// reaches reports whether from loads the checked file, directly or indirectly.
func (w *loadWalk) reaches(from *File) bool {
	if from.Err != nil && w.err == nil {
		_, w.err = interp.Parse(from.Name, []byte(from.Text))
	}
	if w.file.Source == nil || from.Source == nil || len(w.seen) > maxLoads {
		return false
	}
	key := from.Source.Key()
	if key == w.file.Source.Key() || w.seen[key] {
		return !w.seen[key]
	}
	w.seen[key] = true
	labels := map[string]bool{}
	for _, s := range from.globals {
		if s.Label == "" || labels[s.Label] {
			continue
		}
		labels[s.Label] = true
		next, err := w.opener.Load(from, s.Label)
		if err != nil && w.err == nil {
			w.err = fmt.Errorf("%s: %w", from.Name, err)
		}
		if err == nil && w.reaches(next) {
			return true
		}
	}
	return false
}

// Disk opens the files of load() like an interpreter, each file once. It is not safe for concurrent
// use.
type Disk struct {
	interp *interp.Interp
	files  map[string]*File // by the source's key
}

// NewDisk returns an Opener that does not evaluate files.
func NewDisk(i *interp.Interp) *Disk { return &Disk{i, map[string]*File{}} }

// File analyzes the text of a file; name is the path that the user typed.
func (d *Disk) File(name, text string) (*File, error) {
	source, err := d.interp.SourceOf(name)
	if err != nil {
		return nil, err
	}
	return New(name, source, text, nil), nil
}

// Load implements Opener.
func (d *Disk) Load(from *File, label string) (*File, error) {
	source, err := d.interp.Loaded(from.Source, label)
	if err != nil {
		return nil, err
	}
	if known := d.files[source.Key()]; known != nil {
		return known, nil
	}
	data, err := source.Read()
	if err != nil {
		return nil, fmt.Errorf("cannot load %s: %w", source.Label(), err)
	}
	file := New(source.Display(), source, string(data), nil)
	d.files[source.Key()] = file
	return file, nil
}
