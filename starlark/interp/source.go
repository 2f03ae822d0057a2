package interp

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

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

// SourceIn returns the file that a label means in the workspace with that root, an
// absolute folder: "//x.star", "@torchx//x.star", "@library//x.star".
func (i *Interp) SourceIn(root, label string) (*Source, error) {
	return i.resolve(&Source{i.workspace(root), "_"}, label)
}

// Loaded returns the file that a load() of label means in the file from.
func (i *Interp) Loaded(from *Source, label string) (*Source, error) { return i.resolve(from, label) }

func (i *Interp) workspace(root string) *tree { return &tree{dir: root, shown: i.dir, top: root} }

// Stat describes the file, to see whether it has changed.
func (s *Source) Stat() (fs.FileInfo, error) {
	if p := s.Path(); p != "" {
		return os.Stat(p)
	}
	return fs.Stat(s.tree.fsys, s.name)
}

// Entries lists what a label may go on with, where folder is its part up to the last
// "/" ("./", "//sub/", "@library//"): Starlark files, and folders with a "/" behind.
// Hidden ones and the file itself are left out.
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
