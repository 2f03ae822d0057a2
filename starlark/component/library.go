package component

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"torchx/runtime/humanize"
)

// openLibrary returns the files of a library of the workspace.
func (l *Loader) openLibrary(name string) (fs.FS, error) {
	if l.config.Library == nil {
		return nil, fmt.Errorf("unknown library @%s", name)
	}
	fsys, err := l.config.Library(l.root(), name)
	if hint := humanize.Hint(name, l.Libraries()); hint != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("library @%s: %w.%s", name, err, hint)
	}
	if err != nil {
		return nil, fmt.Errorf("library @%s: %w", name, err)
	}
	return fsys, nil
}

// libraryLocations returns the location of a component of a library.
func (l *Loader) libraryLocations(r reference) ([]location, error) {
	fsys, err := l.openLibrary(r.library)
	if err != nil {
		return nil, err
	}
	candidates := []string{r.file}
	if r.file == "" {
		candidates = []string{"components/" + r.moduleFile(), r.moduleFile()}
	}
	for _, file := range candidates {
		if !fs.ValidPath(file) {
			return nil, fmt.Errorf("component file @%s//%s: the path leads out of the library", r.library, file)
		}
		// Other problems with a file are reported when it is loaded.
		if _, err := fs.Stat(fsys, file); !errors.Is(err, fs.ErrNotExist) {
			return []location{{library: r.library, file: file}}, nil
		}
	}
	hint := humanize.HintPath(candidates[0], filesBelow(fsys, path.Dir(candidates[0])))
	if file := sameName(fsys, candidates[0]); file != "" {
		hint = " Did you mean " + file + "?"
	} else if hint == "" {
		hint = " `torchx component list` lists the components"
	}
	return nil, fmt.Errorf("component file @%s//%s does not exist.%s", r.library,
		candidates[0], hint)
}

// sameName returns a file of another folder that has the same name, "" if none has.
func sameName(fsys fs.FS, file string) (found string) {
	_ = fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Base(name) == path.Base(file) {
			found = name
			return fs.SkipAll
		}
		return nil // folders that cannot be read have no suggestion
	})
	return found
}

// filesBelow lists the Starlark files of one folder with their full paths.
func filesBelow(fsys fs.FS, dir string) []string {
	names, err := fs.Glob(fsys, path.Join(dir, "*.star"))
	if err != nil { // the folder's name is not a valid pattern
		return nil
	}
	return names
}

// Libraries lists the names of the libraries of the workspace.
func (l *Loader) Libraries() []string {
	if l.config.Libraries == nil {
		return nil
	}
	return l.config.Libraries(l.root())
}

// LibraryComponents lists the documented components of a library as @NAME//FILE.star:FUNCTION, in
// file order. Nothing is executed; files that do not parse are skipped.
func (l *Loader) LibraryComponents(ctx context.Context, name string) ([]Summary, error) {
	fsys, err := l.openLibrary(name)
	if err != nil {
		return nil, err
	}
	var all []Summary
	err = fs.WalkDir(fsys, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir() || !strings.HasSuffix(file, ".star") ||
			strings.HasSuffix(file, "_test.star"):
			return nil
		}
		list, _ := fileSummaries(fsys, file, "@"+name+"//"+file+":")
		all = append(all, slices.DeleteFunc(list, func(s Summary) bool { return s.Doc == "" })...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("library @%s: %w", name, err)
	}
	return all, nil
}

// LibraryEntries completes a reference: @NAME// for each library, then folders and files, then
// functions.
func (l *Loader) LibraryEntries(typed string) []Summary {
	name, rest, inside := strings.Cut(strings.TrimPrefix(typed, "@"), "//")
	var all []Summary
	if !inside {
		for _, name := range l.Libraries() {
			all = append(all, Summary{"@" + name + "//", ""})
		}
		return all
	}
	fsys, err := l.openLibrary(name)
	if err != nil {
		return nil
	}
	prefix := "@" + name + "//"
	if file, _, ok := strings.Cut(rest, ".star:"); ok {
		all, _ = fileSummaries(fsys, file+".star", prefix+file+".star:")
		return all
	}
	dir := path.Dir(rest + "_")
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch file := path.Join(dir, e.Name()); {
		case e.IsDir():
			all = append(all, Summary{prefix + file + "/", ""})
		case strings.HasSuffix(file, ".star"):
			all = append(all, Summary{prefix + file + ":", ""})
		}
	}
	return slices.Clip(all)
}
