package interp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const builtinPrefix = "@torchx"

// A tree is a root folder that load() cannot leave.
type tree struct {
	prefix string // of its labels: "" for the workspace, "@torchx", "@lib"
	dir    string // absolute folder of the workspace; "" if the files are in fsys
	shown  string // the folder that paths in messages are relative to
	fsys   fs.FS
	// top is the root of the workspace where load() started, whose libraries the files can load; ""
	// for built-in files, which cannot load libraries.
	top string
}

// Source is a file that load() can reach, not yet evaluated.
type Source struct {
	tree *tree
	name string // slash-separated and clean
}

// Label returns the label of the file in load() statements of its workspace.
func (s *Source) Label() string { return s.tree.prefix + "//" + s.name }

// Key identifies the file. Files of different workspaces may have the same label.
func (s *Source) Key() string { return s.tree.top + "\x00" + s.Label() }

// Path returns the absolute path of a workspace file, "" for a library or built-in file.
func (s *Source) Path() string {
	if s.tree.dir == "" {
		return ""
	}
	return filepath.Join(s.tree.dir, filepath.FromSlash(s.name))
}

// Root returns the root of the workspace whose libraries the file can load, "" for a built-in file.
func (s *Source) Root() string { return s.tree.top }

// Display returns the name of the file in messages and positions.
func (s *Source) Display() string {
	if s.tree.dir == "" {
		return s.Label()
	}
	return relativeTo(s.tree.shown, s.Path())
}

func (t *tree) describe() string {
	if t.dir != "" {
		return "the workspace root " + t.dir
	}
	return t.prefix
}

// Loaded returns the file that a load() of label in the file from refers to.
func (i *Interp) Loaded(from *Source, label string) (*Source, error) {
	t := from.tree
	var name string
	switch {
	case strings.ContainsAny(label, "\\\x00"):
		return nil, errors.New(`a label cannot contain backslashes or NUL; separate folders with "/"`)
	case strings.HasPrefix(label, "@"):
		var err error
		if t, name, err = i.libraryOf(from, label); err != nil {
			return nil, err
		}
	case strings.HasPrefix(label, "//"):
		name = label[2:]
	case strings.HasPrefix(label, "./"), strings.HasPrefix(label, "../"):
		name = path.Join(path.Dir(from.name), label)
	default:
		return nil, fmt.Errorf(`a label starts with "./", "../", "//", "@torchx//" or "@library//"; did you mean "./%s"?`, strings.TrimLeft(label, "./"))
	}
	name = path.Clean(name)
	if name == "." || strings.HasPrefix(name, "/") {
		return nil, errors.New("the label has no file name")
	}
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("the label leads out of %s; files outside it cannot be loaded", t.describe())
	}
	return &Source{t, name}, nil
}

// SourceOf returns the file at path, which may be relative to Config.Dir; it need not exist.
func (i *Interp) SourceOf(path string) (*Source, error) {
	abs := absFrom(i.dir, path)
	root := WorkspaceRoot(abs)
	name, err := nameUnder(root, abs)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return &Source{i.workspace(root), name}, nil
}

// SourceIn returns the file that a label, such as "//x.star" or "@library//x.star", refers to in
// the workspace with that absolute root.
func (i *Interp) SourceIn(root, label string) (*Source, error) {
	return i.Loaded(&Source{i.workspace(root), "_"}, label)
}

func (i *Interp) workspace(root string) *tree { return &tree{dir: root, shown: i.dir, top: root} }

// Stat describes the file.
func (s *Source) Stat() (fs.FileInfo, error) {
	if p := s.Path(); p != "" {
		return os.Stat(p)
	}
	return fs.Stat(s.tree.fsys, s.name)
}

// Entries completes a label up to its last "/" ("./", "//sub/", "@library//") with Starlark files
// and folders, which end with "/". It omits hidden entries and the file from.
func (i *Interp) Entries(from *Source, folder string) ([]string, error) {
	at, err := i.Loaded(from, folder+"_")
	if err != nil {
		return nil, err
	}
	entries, err := readFolder(at.tree, path.Dir(at.name))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		name := path.Join(path.Dir(at.name), e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."), (&Source{at.tree, name}).Key() == from.Key():
		case e.IsDir():
			out = append(out, e.Name()+"/")
		case strings.HasSuffix(name, ".star"):
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func readFolder(t *tree, name string) ([]fs.DirEntry, error) {
	if t.dir == "" {
		return fs.ReadDir(t.fsys, name)
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fs.ReadDir(root.FS(), name)
}

// WorkspaceRoot returns the folder that "//" refers to in file: the nearest parent with
// .torchxconfig, torchx.libs, .git or a folder components, else the folder of file.
func WorkspaceRoot(file string) string {
	start := filepath.Dir(absFrom("", file))
	for dir := start; ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

func isRoot(dir string) bool {
	for _, mark := range []string{".torchxconfig", ".git", "torchx.libs"} {
		if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	info, err := os.Stat(filepath.Join(dir, "components"))
	return err == nil && info.IsDir()
}

// absFrom makes path absolute, relative to dir or, if dir is "", to the working directory.
func absFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			wd = string(os.PathSeparator) // the working directory was removed: absolute paths still work
		}
		dir = wd
	}
	return filepath.Join(dir, path)
}

// nameUnder returns the slash-separated path of the file abs relative to root.
func nameUnder(root, abs string) (string, error) {
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("is not inside its workspace root %s", root)
	}
	return filepath.ToSlash(rel), nil
}

// relativeTo shortens abs for messages if it is inside dir.
func relativeTo(dir, abs string) string {
	if name, err := nameUnder(dir, abs); err == nil {
		return filepath.FromSlash(name)
	}
	return abs
}
