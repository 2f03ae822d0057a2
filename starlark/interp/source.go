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

// A tree is a root that load() cannot leave.
type tree struct {
	prefix string // of its labels: "" for the workspace, "@torchx", "@lib"
	dir    string // absolute folder of the workspace; "": fsys holds the files
	shown  string // the folder that paths in messages are relative to
	fsys   fs.FS
	// top is the root of the workspace that load() began in, whose libraries its files see; "" for
	// built-in files, which see none.
	top string
}

// Source is a file that load() can reach, not evaluated.
type Source struct {
	tree *tree
	name string // slash-separated and clean
}

// Label is what load() calls the file from elsewhere in its workspace.
func (s *Source) Label() string { return s.tree.prefix + "//" + s.name }

// Key identifies the file. Files of different workspaces may have the same label.
func (s *Source) Key() string { return s.tree.top + "\x00" + s.Label() }

// Path is the absolute path of a workspace file, "" for one of a library or built in.
func (s *Source) Path() string {
	if s.tree.dir == "" {
		return ""
	}
	return filepath.Join(s.tree.dir, filepath.FromSlash(s.name))
}

// Root is the root of the workspace whose libraries the file can load, "" for a built-in file.
func (s *Source) Root() string { return s.tree.top }

// Display is what messages and positions call the file.
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

// resolve finds the file that label means in a load() of the file from.
func (i *Interp) resolve(from *Source, label string) (*Source, error) {
	t := from.tree
	var name string
	switch {
	case strings.ContainsAny(label, "\\\x00"):
		return nil, errors.New(`a label has neither backslashes nor NUL; separate folders by "/"`)
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
		return nil, errors.New("the label names no file")
	}
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("the label leads out of %s, and nothing outside it can be loaded", t.describe())
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

// SourceIn returns the file of a label in the workspace with that absolute root: "//x.star",
// "@library//x.star".
func (i *Interp) SourceIn(root, label string) (*Source, error) {
	return i.resolve(&Source{i.workspace(root), "_"}, label)
}

// Loaded returns the file that a load() of label means in the file from.
func (i *Interp) Loaded(from *Source, label string) (*Source, error) { return i.resolve(from, label) }

func (i *Interp) workspace(root string) *tree { return &tree{dir: root, shown: i.dir, top: root} }

// Stat describes the file.
func (s *Source) Stat() (fs.FileInfo, error) {
	if p := s.Path(); p != "" {
		return os.Stat(p)
	}
	return fs.Stat(s.tree.fsys, s.name)
}

// Entries completes a label up to its last "/" ("./", "//sub/", "@library//") with Starlark files
// and folders, which end with "/". It omits hidden ones and the file itself.
func (i *Interp) Entries(from *Source, folder string) ([]string, error) {
	at, err := i.resolve(from, folder+"_")
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

// WorkspaceRoot returns the folder that "//" means in file: the nearest parent with .torchxconfig,
// torchx.libs, .git or a folder components; without any, the folder of file.
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

// absFrom makes path absolute, from dir or, if that is "", the working directory.
func absFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			wd = string(os.PathSeparator) // a removed folder: absolute paths still work
		}
		dir = wd
	}
	return filepath.Join(dir, path)
}

// nameUnder returns the slash-separated name of the file abs inside root.
func nameUnder(root, abs string) (string, error) {
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("is not inside its workspace root %s", root)
	}
	return filepath.ToSlash(rel), nil
}

// relativeTo shortens abs for messages when it lies inside dir.
func relativeTo(dir, abs string) string {
	if name, err := nameUnder(dir, abs); err == nil {
		return filepath.FromSlash(name)
	}
	return abs
}
