package interp

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

const builtinPrefix = "@torchx"

// A tree is a root that load() can reach and cannot leave.
type tree struct {
	prefix string // of its labels: "" for the workspace, "@torchx", "@lib"
	dir    string // absolute folder of the workspace; "": fsys holds the files
	shown  string // the folder that paths in messages are relative to
	fsys   fs.FS
	// top is the root of the workspace that load() began in: its libraries are those
	// of all files that it reaches. "" for the built-in files, which reach none.
	top string
}

// Source is a file that load() can reach. Nothing of it is evaluated.
type Source struct {
	tree *tree
	name string // slash-separated and clean
}

// Label is what load() calls the file from elsewhere in its workspace.
func (s *Source) Label() string { return s.tree.prefix + "//" + s.name }

// Key tells sources apart: equal for the same file. Files of different workspaces
// may have the same label.
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
