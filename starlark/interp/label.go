package interp

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

const builtinPrefix = "@torchx"

// A tree is a root that load() can reach and cannot leave.
type tree struct {
	prefix string // of its labels: "" for the workspace, "@torchx", "@lib"
	dir    string // absolute folder of the workspace; "": fsys holds the files
	shown  string // the folder that paths in messages are relative to
	fsys   fs.FS
}

// A location is a file of a tree; name is slash-separated and clean.
type location struct {
	tree *tree
	name string
}

func (l location) label() string { return l.tree.prefix + "//" + l.name }

// key tells files of different workspaces with the same label apart.
func (l location) key() string { return l.tree.dir + "\x00" + l.label() }

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

var libraryLabel = regexp.MustCompile(`^@([A-Za-z0-9_][A-Za-z0-9_.-]*)//(.*)$`)

func (i *Interp) libraryOf(from location, label string) (*tree, string, error) {
	m := libraryLabel.FindStringSubmatch(label)
	if m == nil {
		return nil, "", errors.New(`the label is not of the form "@library//file.star"`)
	}
	name, file := m[1], m[2]
	prefix := "@" + name
	if prefix == from.tree.prefix {
		return from.tree, file, nil
	}
	if from.tree == i.builtins {
		return nil, "", errors.New("a built-in file may load built-in files only")
	}
	if prefix == builtinPrefix {
		if i.builtins == nil {
			return nil, "", errors.New("there are no built-in files")
		}
		return i.builtins, file, nil
	}
	if i.cfg.Library == nil {
		return nil, "", fmt.Errorf("no library %s is known", prefix)
	}
	fsys, err := i.cfg.Library(name)
	if err != nil {
		return nil, "", fmt.Errorf("library %s: %w", prefix, err)
	}
	if fsys == nil {
		return nil, "", fmt.Errorf("no library %s is known", prefix)
	}
	return &tree{prefix: prefix, fsys: fsys}, file, nil
}
