package interp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"torchx/runtime/pattern"
)

type libraryKey struct{ root, name string }

var libraryLabel = pattern.Lazy(`^@([A-Za-z0-9_][A-Za-z0-9_.-]*)//(.*)$`)

// LoadLibrary evaluates a file, such as "sub/x.star", of a library of the workspace with that
// absolute root.
func (i *Interp) LoadLibrary(ctx context.Context, root, name, file string) (*Module, error) {
	label := "@" + name + "//" + file
	t, err := i.library(root, name)
	if err == nil && !fs.ValidPath(file) {
		err = errors.New("the label leads out of the library")
	}
	if err != nil {
		return nil, &Error{File: label, Msg: err.Error(), cause: err}
	}
	return i.load(ctx, &Source{t, path.Clean(file)})
}

func (i *Interp) libraryOf(from *Source, label string) (*tree, string, error) {
	m := libraryLabel().FindStringSubmatch(label)
	if m == nil {
		return nil, "", errors.New(`the label is not of the form "@library//file.star"`)
	}
	name, file := m[1], m[2]
	prefix := "@" + name
	if prefix == from.tree.prefix {
		return from.tree, file, nil
	}
	if from.tree == i.builtins {
		return nil, "", errors.New("a built-in file can only load built-in files")
	}
	if prefix == builtinPrefix {
		if i.builtins == nil {
			return nil, "", errors.New("no built-in files are available")
		}
		return i.builtins, file, nil
	}
	t, err := i.library(from.tree.top, name)
	return t, file, err
}

// library opens a library of the workspace with that root, unless it is already open.
func (i *Interp) library(root, name string) (*tree, error) {
	key := libraryKey{root, name}
	i.mu.Lock()
	known := i.libraries[key]
	i.mu.Unlock()
	if known != nil {
		return known, nil
	}
	prefix := "@" + name
	if i.cfg.Library == nil {
		return nil, fmt.Errorf("unknown library %s", prefix)
	}
	fsys, err := i.cfg.Library(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &unknownLibraryError{name, err}
	}
	if err != nil {
		return nil, fmt.Errorf("library %s: %w", prefix, err)
	}
	if fsys == nil {
		return nil, fmt.Errorf("unknown library %s", prefix)
	}
	t := &tree{prefix: prefix, fsys: fsys, top: root}
	i.mu.Lock()
	i.libraries[key] = t
	i.mu.Unlock()
	return t, nil
}

type unknownLibraryError struct {
	name  string
	cause error
}

func (e *unknownLibraryError) Error() string { return "library @" + e.name + ": " + e.cause.Error() }
func (e *unknownLibraryError) Unwrap() error { return e.cause }

// maxSearched bounds the files that are searched for more missing libraries.
const maxSearched = 5000

// addMissing adds all other missing libraries to the error of an unknown one, so that the user can
// add all of them in one go. It reads files without evaluating them.
func (r *run) addMissing(err error) error {
	var unknown *unknownLibraryError
	if !errors.As(err, &unknown) {
		return err
	}
	var further []string
	for name, at := range r.interp.missingLibraries(r.loading[0]) {
		if name != unknown.name {
			further = append(further, "@"+name+" for "+at)
		}
	}
	if len(further) == 0 {
		return err
	}
	slices.Sort(further)
	return fmt.Errorf("%w (also missing: %s)", err, strings.Join(further, ", "))
}

// missingLibraries returns the unknown libraries that start and the files that it loads need, each
// with the position of a load.
func (i *Interp) missingLibraries(start *Source) map[string]string {
	found := map[string]string{}
	seen := map[string]bool{start.Key(): true}
	for open := []*Source{start}; len(open) > 0 && len(seen) < maxSearched; open = open[1:] {
		source, err := open[0].Read()
		if err != nil {
			continue
		}
		loads, err := Loads(open[0].Display(), source)
		if err != nil {
			continue
		}
		for _, load := range loads {
			to, err := i.Loaded(open[0], load.Label)
			var unknown *unknownLibraryError
			switch {
			case errors.As(err, &unknown) && found[unknown.name] == "":
				found[unknown.name] = fmt.Sprintf("%s:%d", open[0].Display(), load.Line)
			case err == nil && !seen[to.Key()]:
				seen[to.Key()] = true
				open = append(open, to)
			}
		}
	}
	return found
}

// Load is a load statement of a file.
type Load struct {
	Label string // "@lib//x.star"
	Line  int    // 1-based
}

// Loads lists the load statements of a file in order, without evaluating it. The error is a syntax
// error.
func Loads(name string, source []byte) ([]Load, error) {
	file, err := parse(dialect(), name, source, 0)
	if err != nil {
		return nil, err
	}
	var loads []Load
	for _, stmt := range file.Stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if load, ok := n.(*syntax.LoadStmt); ok {
				loads = append(loads, Load{load.ModuleName(), int(load.Load.Line)})
			}
			_, isExpr := n.(syntax.Expr)
			return !isExpr
		})
	}
	return loads, nil
}

// LibraryOf returns NAME of a label "@NAME//…", or "" for other labels and for "@torchx//…".
func LibraryOf(label string) string {
	m := libraryLabel().FindStringSubmatch(label)
	if m == nil || "@"+m[1] == builtinPrefix {
		return ""
	}
	return m[1]
}
