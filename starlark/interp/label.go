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

// A location is a file of a tree; name is slash-separated and clean.
type location struct {
	tree *tree
	name string
}

func (l location) label() string { return l.tree.prefix + "//" + l.name }

// key tells files of different workspaces with the same label apart.
func (l location) key() string { return l.tree.top + "\x00" + l.label() }

// path returns the absolute path of a workspace file, else "".
func (l location) path() string {
	if l.tree.dir == "" {
		return ""
	}
	return filepath.Join(l.tree.dir, filepath.FromSlash(l.name))
}

// display is what messages and positions call the file.
func (l location) display() string {
	if l.tree.dir == "" {
		return l.label()
	}
	return relativeTo(l.tree.shown, l.path())
}

func (t *tree) describe() string {
	if t.dir != "" {
		return "the workspace root " + t.dir
	}
	return t.prefix
}

// resolve finds the file that label means in a load() of the file from.
func (i *Interp) resolve(from location, label string) (location, error) {
	t := from.tree
	var name string
	switch {
	case strings.ContainsAny(label, "\\\x00"):
		return location{}, errors.New(`a label has neither backslashes nor NUL; separate folders by "/"`)
	case strings.HasPrefix(label, "@"):
		var err error
		if t, name, err = i.libraryOf(from, label); err != nil {
			return location{}, err
		}
	case strings.HasPrefix(label, "//"):
		name = label[2:]
	case strings.HasPrefix(label, "./"), strings.HasPrefix(label, "../"):
		name = path.Join(path.Dir(from.name), label)
	default:
		return location{}, fmt.Errorf(`a label starts with "./", "../", "//", "@torchx//" or "@library//"; did you mean "./%s"?`, strings.TrimLeft(label, "./"))
	}
	name = path.Clean(name)
	if name == "." || strings.HasPrefix(name, "/") {
		return location{}, errors.New("the label names no file")
	}
	if !fs.ValidPath(name) {
		return location{}, fmt.Errorf("the label leads out of %s, and nothing outside it can be loaded", t.describe())
	}
	return location{t, name}, nil
}
