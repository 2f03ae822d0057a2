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

	"go.starlark.net/syntax"

	"torchx/runtime/humanize"
	"torchx/starlark/interp"
)

// Summary is one line about a component.
type Summary struct {
	Name string // "dist.ddp"
	Doc  string // the first line of its docstring
}

// Origin is where a component comes from.
type Origin string

// The origins: a component hides those of the same name in later origins.
const (
	OriginProject Origin = "project"
	OriginLibrary Origin = "library"
	OriginBuiltin Origin = "built-in"
)

// Listed is a component and its origin.
type Listed struct {
	Summary
	Origin Origin
}

// List lists the components of the project, of its libraries and the built-in ones that the project
// does not hide. Nothing is executed. problems holds errors of libraries and of files that do not
// parse.
func (l *Loader) List(ctx context.Context) (all []Listed, problems []error, err error) {
	add := func(origin Origin, list []Summary) {
		for _, s := range list {
			all = append(all, Listed{s, origin})
		}
	}
	dir := filepath.Join(l.root(), "components")
	for _, file := range moduleFiles(os.DirFS(dir)) {
		if err := l.CheckFile(filepath.Join(dir, file)); err != nil {
			problems = append(problems, fmt.Errorf("%w; its components are not listed", err))
		}
	}
	project, _ := summaries(os.DirFS(dir)) // files that do not parse are already in problems
	add(OriginProject, project)
	for _, name := range l.Libraries() {
		list, err := l.LibraryComponents(ctx, name)
		if err != nil {
			problems = append(problems, err)
		}
		add(OriginLibrary, list)
	}
	builtins, err := l.Builtins(ctx)
	add(OriginBuiltin, without(builtins, project))
	return all, problems, err
}

// Known lists the components of the project, then the built-in ones that the project does not hide,
// for completion. Nothing is executed; unreadable files are skipped.
func (l *Loader) Known() []Summary {
	project, _ := summaries(os.DirFS(filepath.Join(l.root(), "components")))
	builtins, _ := summaries(l.config.Builtins)
	return append(project, without(builtins, project)...)
}

// without removes the components whose names are in hidden.
func without(list, hidden []Summary) []Summary {
	return slices.DeleteFunc(list, func(s Summary) bool {
		return slices.ContainsFunc(hidden, func(h Summary) bool { return h.Name == s.Name })
	})
}

// Builtins lists the documented functions of the built-in library, in file order, without executing
// it.
func (l *Loader) Builtins(ctx context.Context) ([]Summary, error) {
	all, err := summaries(l.config.Builtins)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(s Summary) bool { return s.Doc == "" }), nil
}

// Functions lists the components of a file as FILE:FUNCTION, without executing it. It returns none
// if the file is unreadable.
func (l *Loader) Functions(file string) []Summary {
	path := l.abs(file)
	all, _ := fileSummaries(os.DirFS(filepath.Dir(path)), filepath.Base(path), file+":")
	return all
}

// CheckFile returns a one-line error if a file cannot be read or parsed. Relative paths are
// relative to the working directory.
func (l *Loader) CheckFile(file string) error {
	path := l.abs(file)
	if rel, err := filepath.Rel(l.dir(), path); filepath.IsAbs(file) && err == nil &&
		filepath.IsLocal(rel) {
		file = rel
	}
	_, err := definitions(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if at, ok := errors.AsType[syntax.Error](err); ok {
		return fmt.Errorf("%s:%d:%d: %s", file, at.Pos.Line, at.Pos.Col, at.Msg)
	}
	if unread, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s cannot be read: %w", file, unread.Err)
	}
	return err
}

// Source returns the source of a built-in component ("dist.ddp") or file ("dist", "dist.star").
func (l *Loader) Source(name string) (string, error) {
	files := starFiles(l.config.Builtins)
	if file := strings.TrimSuffix(name, ".star") + ".star"; slices.Contains(files, file) {
		data, err := fs.ReadFile(l.config.Builtins, file)
		return string(data), err
	}
	module, function, _ := strings.Cut(name, ".")
	file := module + ".star"
	if slices.Contains(files, file) {
		defs, err := definitions(l.config.Builtins, file)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(defs, func(d *syntax.DefStmt) bool { return d.Name.Name == function })
		if i >= 0 {
			data, err := fs.ReadFile(l.config.Builtins, file)
			lines := interp.NewLines(string(data))
			return linesOf(&lines, defs[i]), err
		}
	}
	builtins, _ := summaries(l.config.Builtins)
	return "", fmt.Errorf("no built-in component %s.%s `torchx builtins` lists them",
		humanize.Quote(name), didYouMean(name, builtins))
}

// linesOf returns the lines of a definition.
func linesOf(lines *interp.Lines, def *syntax.DefStmt) string {
	start, end := def.Span()
	return lines.Text[lines.Start(int(start.Line)-1):lines.Start(int(end.Line))]
}

// starFiles lists the Starlark files at the root of fsys, sorted, without test files.
func starFiles(fsys fs.FS) []string {
	if fsys == nil {
		return nil
	}
	names, err := fs.Glob(fsys, "*.star")
	if err != nil { // only an invalid pattern is an error
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.star") })
}

// definitions parses a file and returns its public functions. It opens regular files only: opening
// a pipe would block.
func definitions(fsys fs.FS, name string) ([]*syntax.DefStmt, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > interp.MaxSource {
		return nil, fmt.Errorf("%s is not a Starlark file", name)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	file, err := interp.ParseLenient(name, data)
	if err != nil {
		return nil, err
	}
	var defs []*syntax.DefStmt
	for _, stmt := range file.Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok && !strings.HasPrefix(def.Name.Name, "_") {
			defs = append(defs, def)
		}
	}
	return defs, nil
}

// componentName returns the reference of a function in a file below a components folder:
// "dist.ddp", "a.b.fn", or its path if the file's name is not a module.
func componentName(file, function string) string {
	if module := moduleOf(file); isModule(module) {
		return module + "." + function
	}
	return "components/" + file + ":" + function
}

// moduleOf returns the MODULE of a file below a components folder.
func moduleOf(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, ".star"), "/", ".")
}

// isModule reports whether text can be the MODULE of MODULE.FUNCTION.
func isModule(text string) bool {
	return !slices.ContainsFunc(strings.Split(text, "."), func(part string) bool { return !isIdentifier(part) })
}

// maxModules bounds the files and folders that are searched for modules.
const maxModules = 5000

// moduleFiles lists the Starlark files of a components folder by path, sorted, without tests. From
// subfolders it lists only files that MODULE.FUNCTION can name.
func moduleFiles(fsys fs.FS) []string {
	files := starFiles(fsys)
	if fsys == nil {
		return nil
	}
	left := maxModules
	_ = fs.WalkDir(fsys, ".", func(file string, e fs.DirEntry, err error) error {
		left--
		switch {
		case left < 0:
			return fs.SkipAll
		case err != nil: // the folder is not listed
			return fs.SkipDir
		case e.IsDir() && file != "." && (!isIdentifier(e.Name()) || e.Name() == "testdata"):
			return fs.SkipDir
		case !e.IsDir() && strings.Contains(file, "/") && strings.HasSuffix(file, ".star") &&
			!strings.HasSuffix(file, "_test.star") &&
			isIdentifier(strings.TrimSuffix(e.Name(), ".star")):
			files = append(files, file)
		}
		return nil
	})
	slices.Sort(files)
	return files
}

// summaries lists the components of all files of a components folder. The error is about unreadable
// files.
func summaries(fsys fs.FS) (all []Summary, err error) {
	for _, file := range moduleFiles(fsys) {
		list, fileErr := fileSummaries(fsys, file, componentName(file, ""))
		all, err = append(all, list...), errors.Join(err, fileErr)
	}
	return all, err
}

// fileSummaries lists the components of one file, each named prefix + function.
func fileSummaries(fsys fs.FS, file, prefix string) ([]Summary, error) {
	defs, err := definitions(fsys, file)
	var all []Summary
	for _, def := range defs {
		s := Summary{Name: prefix + def.Name.Name}
		if literal := interp.Docstring(def.Body); literal != nil {
			s.Doc, _, _ = strings.Cut(ParseDoc(literal.Value.(string)).Text, "\n")
		}
		all = append(all, s)
	}
	return all, err
}

// didYouMean returns a suggestion for the name of a component: a similar name, else a component
// with a similar function name.
func didYouMean(text string, all []Summary) string {
	var names, functions []string
	byFunction := map[string]string{}
	for _, s := range all {
		names = append(names, s.Name)
		function := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
		if _, known := byFunction[function]; !known {
			byFunction[function] = s.Name
			functions = append(functions, function)
		}
	}
	if hint := humanize.HintPath(text, names); hint != "" {
		return hint
	}
	last := text[strings.LastIndexByte(text, '.')+1:]
	if function, ok := humanize.Closest(last, functions); ok {
		return " Did you mean " + byFunction[function] + "?"
	}
	return ""
}
