package component

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.starlark.net/syntax"
)

// Known lists what MODULE.FUNCTION can name here, for completion: the components
// of the workspace, then the built-in ones that those do not hide. Nothing is
// executed, and files that cannot be read have none.
func (l *Loader) Known() []Summary {
	all := summaries(os.DirFS(filepath.Join(l.root(), "components")))
	seen := map[string]bool{}
	for _, s := range all {
		seen[s.Name] = true
	}
	for _, s := range summaries(l.config.Builtins) {
		if !seen[s.Name] {
			all = append(all, s)
		}
	}
	return all
}

// Functions lists the components of a file, each as FILE:FUNCTION; none if it
// cannot be read. Nothing is executed.
func (l *Loader) Functions(file string) []Summary {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir(), path)
	}
	var all []Summary
	for _, s := range fileSummaries(os.DirFS(filepath.Dir(path)), filepath.Base(path)) {
		all = append(all, Summary{file + ":" + s.Name, s.Doc})
	}
	return all
}

// Unreadable says in one line why a file, relative to the working folder or absolute,
// shows no components: it cannot be read or parsed. nil if it can.
func (l *Loader) Unreadable(file string) error {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir(), path)
	} else if rel, err := filepath.Rel(l.dir(), path); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	_, err := definitions(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	var at syntax.Error
	if errors.As(err, &at) {
		return fmt.Errorf("%s:%d:%d: %s", file, at.Pos.Line, at.Pos.Col, at.Msg)
	}
	var unread *fs.PathError
	if errors.As(err, &unread) {
		return fmt.Errorf("%s cannot be read: %w", file, unread.Err)
	}
	return err
}

// summaries are the components of all files at the root of fsys, by MODULE.FUNCTION.
func summaries(fsys fs.FS) []Summary {
	var all []Summary
	for _, file := range starFiles(fsys) {
		if strings.HasSuffix(file, "_test.star") {
			continue
		}
		for _, s := range fileSummaries(fsys, file) {
			all = append(all, Summary{componentName(file, s.Name), s.Doc})
		}
	}
	return all
}

// fileSummaries are the components of one file, by the function's name alone.
func fileSummaries(fsys fs.FS, file string) []Summary {
	defs, err := definitions(fsys, file)
	if err != nil {
		return nil
	}
	var all []Summary
	for _, def := range defs {
		doc := ""
		if literal := docLiteral(def); literal != nil {
			doc, _, _ = strings.Cut(parseDocstring(literal.Value.(string)).Text, "\n")
		}
		all = append(all, Summary{def.Name.Name, doc})
	}
	return all
}

// Offer is what can be offered while a value is typed.
type Offer struct {
	// Words are whole values; nil if they cannot be listed.
	Words []string
	// Files says that the value can be the path of a file.
	Files bool
	// List says that the value is several, separated by commas.
	List bool
}

// Offer says what to offer for a value of the parameter. A str may be anything,
// a path too; numbers, times and sizes are nothing that can be listed.
func (p *Param) Offer() Offer {
	t := p.Type
	one := t
	if t.Kind == List {
		one = t.elem()
	}
	o := Offer{List: t.Kind == List}
	switch one.Kind {
	case Bool:
		o.Words = []string{"true", "false"}
	case Enum, Resource:
		o.Words = one.Choices
	case String, Path:
		o.Files = true
	}
	return o
}
