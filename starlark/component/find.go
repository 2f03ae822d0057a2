package component

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.starlark.net/starlark"

	"torchx/runtime/suggest"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// Config connects components to their host.
type Config struct {
	// Dir is where relative files and the project's components are found; "" is the working
	// directory.
	Dir string
	// Builtins is the built-in library, its files at the root.
	Builtins fs.FS
	// Library opens the library NAME for the workspace with that root (see interp.Config); nil:
	// there are none.
	Library func(root, name string) (fs.FS, error)
	// Libraries lists the names that Library knows, for lists and suggestions; nil: none.
	Libraries func(root string) []string
	// Image and Version are torchx.IMAGE and torchx.version.
	Image, Version string
	// Resources are named resources beside the built-in ones.
	Resources []specmodule.NamedResource
	// Getenv serves torchx.getenv; nil: nothing is set.
	Getenv func(name string) (string, bool)
	// Print receives what components print(); nil: it is dropped.
	Print func(msg string)
	// Fatal must print err and end the process: a component could not be stopped.
	Fatal func(err error)
}

// Loader finds components. It keeps nothing between calls.
type Loader struct{ config Config }

// NewLoader returns a loader.
func NewLoader(c Config) *Loader { return &Loader{config: c} }

// dir is the absolute folder that references start from.
func (l *Loader) dir() string {
	dir, err := filepath.Abs(l.config.Dir)
	if err != nil { // the current folder is gone: relative paths fail later, with a reason
		return l.config.Dir
	}
	return dir
}

// abs makes a path that may be relative to the folder absolute.
func (l *Loader) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.dir(), path)
}

// root is the workspace root of the folder that references start from.
func (l *Loader) root() string { return interp.WorkspaceRoot(filepath.Join(l.dir(), "_")) }

// location is where a component's file is: on disk, or built in, or in a library.
type location struct {
	path    string // absolute, "" if not on disk
	builtin string // name in the built-in library
	library string // NAME of @NAME//FILE
	file    string // FILE of it
}

// Find returns the component that ref names:
//
//   - MODULE.FUNCTION: of components/MODULE.star in the workspace root, else built in; the dots of
//     a MODULE are folders: a.b.fn is fn of components/a/b.star;
//   - FILE.star:FUNCTION: a file, relative to the folder; components/FILE.star
//     is also found from below the workspace root, and built in;
//   - @NAME//FILE.star:FUNCTION: of a library of the workspace; @NAME//MODULE.FUNCTION
//     is that of its components/MODULE.star, else of its MODULE.star.
//
// Finding executes the file, but calls nothing. Errors name what is missing and
// what was probably meant; those of the file itself are interp's.
func (l *Loader) Find(ctx context.Context, ref string) (*Component, error) {
	r, err := parseRef(ref)
	if err != nil {
		return nil, err
	}
	locations, err := l.locations(r)
	if err != nil {
		return nil, err
	}
	var missing error
	for _, p := range locations {
		s := l.newSession()
		m, err := s.load(ctx, p)
		if err != nil {
			return nil, err
		}
		fn, err := functionOf(r, m)
		if fn != nil {
			return l.component(r, p, m, s, fn)
		}
		missing = err
	}
	return nil, missing
}

// locations lists where to look, all of which exist; there is at least one.
func (l *Loader) locations(r reference) ([]location, error) {
	switch {
	case r.library == "torchx":
		if r.file == "" {
			r.file = r.moduleFile()
		}
		if slices.Contains(starFiles(l.config.Builtins), r.file) {
			return []location{{builtin: r.file}}, nil
		}
		return nil, fmt.Errorf("component file @torchx//%s does not exist.%s", r.file, suggest.Hint(r.file, starFiles(l.config.Builtins)))
	case r.library != "":
		return l.libraryLocations(r)
	case r.module != "" || r.file == "":
		return l.moduleLocations(r)
	case strings.HasSuffix(r.file, ".py"):
		return nil, l.pythonError(r)
	default:
		p, err := l.fileLocation(r)
		return []location{p}, err
	}
}

func (l *Loader) moduleLocations(r reference) ([]location, error) {
	var found []location
	if isModule(r.module) {
		path := filepath.Join(l.root(), "components", filepath.FromSlash(r.moduleFile()))
		ok, err := isFile(path)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, location{path: path})
		}
		if name := r.moduleFile(); slices.Contains(starFiles(l.config.Builtins), name) {
			found = append(found, location{builtin: name})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("unknown component %s: it is neither in %s nor built in.%s `torchx builtins` lists the built-in ones",
			quoteShort(r.text), filepath.Join(l.root(), "components"), didYouMean(r.text, l.Known()))
	}
	return found, nil
}

// fileLocation finds a file on disk, else in the project's components folder, else built in.
func (l *Loader) fileLocation(r reference) (location, error) {
	candidates := []string{l.abs(r.file)}
	name, inComponents := strings.CutPrefix(filepath.ToSlash(filepath.Clean(r.file)), "components/")
	if inComponents {
		candidates = append(candidates, filepath.Join(l.root(), "components", filepath.FromSlash(name)))
	}
	for _, path := range candidates {
		ok, err := isFile(path)
		if err != nil {
			return location{}, err
		}
		if ok {
			return location{path: path}, nil
		}
	}
	if slices.Contains(starFiles(l.config.Builtins), name) {
		return location{builtin: name}, nil
	}
	return location{}, fmt.Errorf("component file %s does not exist.%s", quoteShort(candidates[0]), l.similarFile(r.file, candidates[0]))
}

// similarFile suggests a file of the same folder, or a built-in one.
func (l *Loader) similarFile(file, path string) string {
	var among []string
	for _, name := range starFiles(os.DirFS(filepath.Dir(path))) {
		among = append(among, filepath.Join(filepath.Dir(file), name))
	}
	for _, name := range starFiles(l.config.Builtins) {
		among = append(among, "components/"+name)
	}
	return suggest.Hint(file, among)
}

// pythonError explains that Python files are not components, and points to a port.
func (l *Loader) pythonError(r reference) error {
	star := strings.TrimSuffix(r.file, ".py") + ".star"
	if ok, err := isFile(l.abs(star)); ok && err == nil {
		if r.function != "" {
			star += ":" + r.function
		}
		return fmt.Errorf("%s is a Python file, and components are Starlark files now. Did you mean %s?", quoteShort(r.file), star)
	}
	return fmt.Errorf("%s is a Python file, and components are Starlark files now: port it with `torchx migrate -o %s %s`",
		quoteShort(r.file), oneLine(star), oneLine(r.file))
}

// isFile reports whether there is a file to read at path.
func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		var detail *fs.PathError
		if errors.As(err, &detail) {
			err = detail.Err
		}
		return false, fmt.Errorf("cannot read component file %s: %w", quoteShort(path), err)
	case info.IsDir():
		return false, fmt.Errorf("component file %s is a folder", quoteShort(path))
	}
	return true, nil
}

// functionOf returns the function of a loaded file. Errors list its public functions.
func functionOf(r reference, m *interp.Module) (*starlark.Function, error) {
	public := publicFunctions(m)
	list := "it has " + strings.Join(public, ", ")
	if len(public) == 0 {
		list = "it has no public function"
	}
	name := m.Path
	if name == "" {
		name = m.Label
	}
	if r.function == "" {
		form := r.file + ":FUNCTION"
		switch {
		case r.module != "":
			form = r.module + ".FUNCTION"
		case r.library != "":
			form = "@" + r.library + "//" + form
		}
		return nil, fmt.Errorf("component %s names no function, write %s: %s", quoteShort(r.text), form, list)
	}
	switch v := m.Globals[r.function].(type) {
	case *starlark.Function:
		return v, nil
	case nil:
		return nil, fmt.Errorf("no function %s in %s: %s.%s", quoteShort(r.function), name, list, suggest.Hint(r.function, public))
	default:
		return nil, fmt.Errorf("%s in %s is no function but of type %s: %s", r.function, name, v.Type(), list)
	}
}

// publicFunctions lists the functions of a module that can be components, in file order.
func publicFunctions(m *interp.Module) []string {
	var out []string
	for name, v := range m.Globals {
		if _, ok := v.(*starlark.Function); ok && !strings.HasPrefix(name, "_") {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return int(m.Globals[a].(*starlark.Function).Position().Line) - int(m.Globals[b].(*starlark.Function).Position().Line)
	})
	return out
}

// component describes a function that was found.
func (l *Loader) component(r reference, p location, m *interp.Module, s *session, fn *starlark.Function) (*Component, error) {
	src := newSource(fn, m.Syntax, l.config.Resources)
	params, err := src.params()
	if err != nil {
		return nil, err
	}
	s.fn = fn
	c := &Component{Name: l.canonical(r, p), Ref: r.text, File: m.Path, Doc: src.doc.Text, Params: params, run: s}
	c.detail = func() Detail { return detailOf(m, fn) }
	if c.File == "" {
		c.File = m.Label
	}
	return c, nil
}

// canonical names what is in the components folder, or built in, MODULE.FUNCTION.
func (l *Loader) canonical(r reference, p location) string {
	switch {
	case p.builtin != "":
		return componentName(p.builtin, r.function)
	case p.library != "":
		return "@" + p.library + "//" + p.file + ":" + r.function
	case p.path != "":
		file, err := filepath.Rel(filepath.Join(l.root(), "components"), p.path)
		if err == nil && filepath.IsLocal(file) && isModule(moduleOf(filepath.ToSlash(file))) {
			return componentName(filepath.ToSlash(file), r.function)
		}
	}
	return r.text
}
