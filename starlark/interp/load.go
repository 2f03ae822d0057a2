package interp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// dialect returns the options of every file: sets, top-level if and for; no recursion, while or
// reassigned globals.
func dialect() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, TopLevelControl: true}
}

// load evaluates the file at l, or returns the cached module.
func (r *run) load(l *Source) (*Module, error) {
	i := r.interp
	i.mu.Lock()
	known := i.modules[l.Key()]
	i.mu.Unlock()
	if known != nil {
		return known, nil
	}
	if err := r.enter(l); err != nil {
		return nil, err
	}
	defer func() { r.loading = r.loading[:len(r.loading)-1] }()
	m, err := r.evaluate(l)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	i.modules[l.Key()] = m
	i.mu.Unlock()
	return m, nil
}

// enter adds l to the files being loaded, or returns an error if that makes a cycle.
func (r *run) enter(l *Source) error {
	for n, open := range r.loading {
		if open.Key() != l.Key() {
			continue
		}
		chain := make([]string, 0, len(r.loading)-n+1)
		for _, c := range r.loading[n:] {
			chain = append(chain, c.Label())
		}
		return fmt.Errorf("load cycle: %s; move the shared code to a separate file",
			strings.Join(append(chain, l.Label()), " -> "))
	}
	r.loading = append(r.loading, l)
	return nil
}

func (r *run) evaluate(l *Source) (*Module, error) {
	source, err := l.Read()
	if err != nil {
		if len(r.loading) == 1 {
			return nil, &Error{File: l.Display(), Msg: err.Error(), cause: err}
		}
		return nil, err // the error is reported at the load statement
	}
	name := l.Display()
	r.interp.keepSource(name, source)
	count := r.interp.counters(l.Path())
	prog, err := r.interp.compile(name, source, count)
	if err != nil {
		return nil, err
	}
	globals, err := prog.Init(r.thread, r.interp.fileEnv(l, count))
	if err != nil {
		return nil, err
	}
	if err := checkGlobals(name, globals); err != nil {
		return nil, err
	}
	globals.Freeze()
	return &Module{Label: l.Label(), Path: l.Path(), Globals: globals, Source: source, name: name}, nil
}

// fileName is the name of the variable with a file's absolute path, or the label of a built-in
// file.
const fileName = "__file__"

func (i *Interp) fileEnv(l *Source, count *counters) starlark.StringDict {
	env := maps.Clone(i.predeclared)
	if count != nil {
		env[coverName] = count.builtin()
	}
	env[fileName] = starlark.String(cmp.Or(l.Path(), l.Label()))
	return env
}

// loadStatement implements load() for the file that is being evaluated.
func (r *run) loadStatement(_ *starlark.Thread, label string) (starlark.StringDict, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.loading) == 0 {
		return nil, errors.New("load() only works while a file is being loaded")
	}
	l, err := r.interp.Loaded(r.loading[len(r.loading)-1], label)
	if err != nil {
		return nil, r.addMissing(err)
	}
	m, err := r.load(l)
	if err != nil {
		return nil, err
	}
	return m.Globals, nil
}

var byteOrderMark = []byte("\uFEFF")

// compile compiles source with guards, and with counters unless count is nil.
func (i *Interp) compile(name string, source []byte, count *counters) (*starlark.Program, error) {
	guarded, err := parse(dialect(), name, source, 0)
	if err != nil {
		return nil, i.sourceProblem(err)
	}
	if count != nil {
		count.insert(guarded)
	}
	if err := rewrite(guarded); err != nil {
		return nil, i.sourceProblem(err)
	}
	prog, err := starlark.FileProgram(guarded, i.isPredeclared)
	if err != nil {
		return nil, i.sourceProblem(err)
	}
	return prog, nil
}

// Syntax parses the file as written, with comments, without resolving names. It takes as long as
// evaluating a small file.
func (m *Module) Syntax() *syntax.File {
	file, err := parse(dialect(), m.name, m.Source, syntax.RetainComments)
	if err != nil {
		return nil // cannot happen: the file was evaluated
	}
	return file
}

func (i *Interp) keepSource(name string, source []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sources[name] = source
}

func (i *Interp) source(name string) []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.sources[name]
}

func (i *Interp) isPredeclared(name string) bool {
	return name == fileName || name == coverName || i.predeclared.Has(name)
}
