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
	"sync"
	"syscall"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// Config configures a Loader.
type Config struct {
	// Dir is the folder from which relative files and the project's components are found; "" is the
	// working directory.
	Dir string
	// Builtins is the built-in library, with its files at the root.
	Builtins fs.FS
	// Library opens the library NAME for the workspace with that root (see interp.Config); nil
	// means no libraries.
	Library func(root, name string) (fs.FS, error)
	// Libraries lists the names that Library knows, for lists and suggestions; nil means none.
	Libraries func(root string) []string
	// Image and Version are torchx.IMAGE and torchx.version.
	Image, Version string
	// Resources are named resources in addition to the built-in ones.
	Resources []specmodule.NamedResource
	// Getenv serves torchx.getenv; nil means that no variable is set.
	Getenv func(name string) (string, bool)
	// Print receives the output of print() in components; nil drops it.
	Print func(msg string)
	// Hidden is told of a file of the project that hides a built-in component, as "utils.echo" and
	// "components/utils.star:echo"; nil drops it.
	Hidden func(builtin, by string)
	// Fatal must print err and exit the process: a component could not be stopped.
	Fatal func(err error)
}

// Loader finds components. It has no state.
type Loader struct{ config Config }

// NewLoader returns a loader.
func NewLoader(c Config) *Loader { return &Loader{config: c} }

// dir is the absolute folder that references are relative to.
func (l *Loader) dir() string {
	dir, err := filepath.Abs(l.config.Dir)
	if err != nil { // the working directory was removed: relative paths fail later, with a reason
		return l.config.Dir
	}
	return dir
}

// abs returns path as an absolute path; a relative path is relative to dir.
func (l *Loader) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.dir(), path)
}

// root is the workspace root of dir.
func (l *Loader) root() string { return interp.WorkspaceRoot(filepath.Join(l.dir(), "_")) }

// location is the file of a component: on disk, built in, or in a library.
type location struct {
	path    string // absolute, "" if not on disk
	builtin string // name in the built-in library
	library string // NAME of @NAME//FILE
	file    string // FILE of @NAME//FILE
}

// Find returns the component that ref names:
//
//   - MODULE.FUNCTION: in components/MODULE.star of the workspace root, else built in; dots in
//     MODULE are folders: a.b.fn is fn of components/a/b.star;
//   - FILE.star:FUNCTION: a file, relative to Config.Dir; components/FILE.star
//     is also found from below the workspace root, and built in;
//   - @NAME//FILE.star:FUNCTION: in a library of the workspace; @NAME//MODULE.FUNCTION
//     is in its components/MODULE.star, else in its MODULE.star.
//
// Find executes the file, but does not call the function. Errors name what is missing and
// suggest similar names; errors of the file itself are interp's.
func (l *Loader) Find(ctx context.Context, ref string) (*Component, error) {
	return (&finder{l, map[location]*loadedFile{}}).find(ctx, ref)
}

// FindAll finds several components like Find, but executes each file only once: the files of all
// components are recorded together.
func (l *Loader) FindAll(ctx context.Context, refs []string) ([]*Component, error) {
	f := &finder{l, map[location]*loadedFile{}}
	all := make([]*Component, len(refs))
	for i, ref := range refs {
		var err error
		if all[i], err = f.find(ctx, ref); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// finder is a Loader that keeps loaded files.
type finder struct {
	*Loader
	loaded map[location]*loadedFile
}

// loadedFile is a file and the session that loaded it.
type loadedFile struct {
	*interp.Module
	session *session
	text    func() *fileText // parsed when an error or page needs it
}

func (f *finder) load(ctx context.Context, p location) (*loadedFile, error) {
	if known := f.loaded[p]; known != nil {
		return known, nil
	}
	s := f.newSession()
	m, err := s.load(ctx, p)
	if err != nil {
		return nil, err
	}
	text := sync.OnceValue(func() *fileText { return newFileText(m.Syntax(), m.Source) })
	f.loaded[p] = &loadedFile{m, s, text}
	return f.loaded[p], nil
}

func (f *finder) find(ctx context.Context, ref string) (*Component, error) {
	r, err := parseRef(ref)
	if err != nil {
		return nil, err
	}
	locations, err := f.locations(r)
	if err != nil {
		return nil, err
	}
	var missing error
	for _, p := range locations {
		file, err := f.load(ctx, p)
		if err != nil {
			return nil, err
		}
		fn, err := functionOf(r, file.Module)
		if fn != nil {
			f.tellHidden(r, p)
			return f.component(r, p, file, fn)
		}
		missing = err
	}
	return nil, missing
}

// tellHidden calls Hidden if the project's file hides the built-in component that r names.
func (l *Loader) tellHidden(r reference, p location) {
	if l.config.Hidden == nil || p.path == "" || r.module == "" {
		return
	}
	all, _ := fileSummaries(l.config.Builtins, r.moduleFile(), r.module+".")
	if slices.ContainsFunc(all, func(s Summary) bool { return s.Name == r.text }) {
		l.config.Hidden(r.text, "components/"+r.moduleFile()+":"+r.function)
	}
}

// locations lists the existing files to search, at least one.
func (l *Loader) locations(r reference) ([]location, error) {
	switch {
	case r.library == "torchx":
		if r.file == "" {
			r.file = r.moduleFile()
		}
		if slices.Contains(starFiles(l.config.Builtins), r.file) {
			return []location{{builtin: r.file}}, nil
		}
		return nil, fmt.Errorf("component file @torchx//%s does not exist.%s", r.file,
			humanize.HintPath(r.file, starFiles(l.config.Builtins)))
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
			humanize.Quote(r.text), filepath.Join(l.root(), "components"), didYouMean(r.text, l.Known()))
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
	return location{}, fmt.Errorf("component file %s does not exist.%s",
		humanize.Quote(candidates[0]), l.similarFile(r.file, candidates[0]))
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
	return humanize.HintPath(file, among)
}

// pythonError explains that Python files are not components, and how to port them.
func (l *Loader) pythonError(r reference) error {
	star := strings.TrimSuffix(r.file, ".py") + ".star"
	if ok, err := isFile(l.abs(star)); ok && err == nil {
		if r.function != "" {
			star += ":" + r.function
		}
		return fmt.Errorf("%s is a Python file, but components are Starlark files. Did you mean %s?", humanize.Quote(r.file), star)
	}
	return fmt.Errorf("%s is a Python file, but components are Starlark files: port it with `torchx migrate -o %s %s`",
		humanize.Quote(r.file), oneLine(star), oneLine(r.file))
}

// isFile reports whether path exists. A folder is an error.
func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		if detail, ok := errors.AsType[*fs.PathError](err); ok {
			err = detail.Err
		}
		return false, fmt.Errorf("cannot read component file %s: %w", humanize.Quote(path), err)
	case info.IsDir():
		return false, fmt.Errorf("component file %s is a folder", humanize.Quote(path))
	}
	return true, nil
}

// functionOf returns the function of a loaded file. Errors list the file's public functions.
func functionOf(r reference, m *interp.Module) (*starlark.Function, error) {
	v := m.Globals[r.function]
	if fn, ok := v.(*starlark.Function); ok {
		return fn, nil
	}
	public := publicFunctions(m)
	list := "the file has " + humanize.List(public)
	if len(public) == 0 {
		list = "the file has no public function"
	}
	name := m.Path
	if name == "" {
		name = m.Label
	}
	switch {
	case r.function == "":
		form := r.file + ":FUNCTION"
		switch {
		case r.module != "":
			form = r.module + ".FUNCTION"
		case r.library != "":
			form = "@" + r.library + "//" + form
		}
		return nil, fmt.Errorf("component %s is missing a function name: write %s (%s)",
			humanize.Quote(r.text), form, list)
	case v == nil:
		return nil, fmt.Errorf("no function %s in %s: %s.%s", humanize.Quote(r.function), name,
			list, humanize.Hint(r.function, public))
	}
	return nil, fmt.Errorf("%s in %s is not a function, got %s: %s", r.function,
		name, v.Type(), list)
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

// component describes fn, the function that r names.
func (l *Loader) component(
	r reference, p location, file *loadedFile, fn *starlark.Function,
) (*Component, error) {
	src := newSource(fn, file.text, l.config.Resources)
	params, err := src.params()
	if err != nil {
		return nil, err
	}
	s := *file.session
	s.fn = fn
	c := &Component{Name: l.canonical(r, p), Ref: r.text, File: file.Path, Doc: src.doc.Text, Params: params, run: &s}
	c.detail = func() Detail { return file.text().detail(fn) }
	if c.File == "" {
		c.File = file.Label
	}
	return c, nil
}

// canonical returns MODULE.FUNCTION for components of a components folder and built-in ones.
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
