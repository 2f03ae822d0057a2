package analysis

import (
	"fmt"

	"torchx/starlark/interp"
)

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
