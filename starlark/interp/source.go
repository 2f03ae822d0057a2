package interp

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Source is a file that load() can reach. Nothing of it is evaluated.
type Source struct{ at location }

// SourceOf returns the file at path, which may be relative to Config.Dir; it need not exist.
func (i *Interp) SourceOf(path string) (*Source, error) {
	abs := absFrom(i.dir, path)
	root := WorkspaceRoot(abs)
	name, err := nameUnder(root, abs)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return &Source{location{i.workspace(root), name}}, nil
}

// Labelled returns the file that a label means in the workspace with that root, an
// absolute folder: "//x.star", "@torchx//x.star", "@library//x.star".
func (i *Interp) Labelled(root, label string) (*Source, error) {
	at, err := i.resolve(location{i.workspace(root), "_"}, label)
	if err != nil {
		return nil, err
	}
	return &Source{at}, nil
}

// Loaded returns the file that a load() of label means in the file from.
func (i *Interp) Loaded(from *Source, label string) (*Source, error) {
	at, err := i.resolve(from.at, label)
	if err != nil {
		return nil, err
	}
	return &Source{at}, nil
}

func (i *Interp) workspace(root string) *tree { return &tree{dir: root, shown: i.dir, top: root} }

// Key tells sources apart: equal for the same file.
func (s *Source) Key() string { return s.at.key() }

// Label is what load() calls the file from elsewhere in its workspace.
func (s *Source) Label() string { return s.at.label() }

// Path is the absolute path of a workspace file, "" for one of a library or built in.
func (s *Source) Path() string { return s.at.path() }

// Root is the root of the workspace whose libraries the file can load, "" for a built-in file.
func (s *Source) Root() string { return s.at.tree.top }

// Display is what messages call the file.
func (s *Source) Display() string { return s.at.display() }

// Read returns the content: valid UTF-8 of at most MaxSource bytes, out of a
// regular file inside its root. It never blocks.
func (s *Source) Read() ([]byte, error) { return s.at.read() }

// Stat describes the file, to see whether it has changed.
func (s *Source) Stat() (fs.FileInfo, error) {
	if p := s.at.path(); p != "" {
		return os.Stat(p)
	}
	return fs.Stat(s.at.tree.fsys, s.at.name)
}

// Entries lists what a label may go on with, where folder is its part up to the last
// "/" ("./", "//sub/", "@library//"): Starlark files, and folders with a "/" behind.
// Hidden ones and the file itself are left out.
func (i *Interp) Entries(from *Source, folder string) ([]string, error) {
	at, err := i.resolve(from.at, folder+"_")
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
		case strings.HasPrefix(e.Name(), "."), location{at.tree, name}.key() == from.Key():
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
