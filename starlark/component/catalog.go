package component

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"torchx/runtime/suggest"
	"torchx/starlark/interp"
)

// Summary is one line about a component.
type Summary struct {
	Name string // "dist.ddp"
	Doc  string // the first line of its docstring
}

// Builtins lists the public functions with a docstring of the built-in library,
// by file and in the order of each file. Nothing is executed.
func (l *Loader) Builtins(ctx context.Context) ([]Summary, error) {
	var all []Summary
	for _, name := range starFiles(l.config.Builtins) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		defs, err := definitions(l.config.Builtins, name)
		if err != nil {
			return nil, err
		}
		for _, def := range defs {
			if literal := docLiteral(def); literal != nil {
				doc, _, _ := strings.Cut(parseDocstring(literal.Value.(string)).Text, "\n")
				all = append(all, Summary{componentName(name, def.Name.Name), doc})
			}
		}
	}
	return all, nil
}

// Source returns the text of a built-in component ("dist.ddp"), or of a whole
// built-in file ("dist", "dist.star"), to be read or copied.
func (l *Loader) Source(name string) (string, error) {
	files := starFiles(l.config.Builtins)
	if file := strings.TrimSuffix(name, ".star") + ".star"; slices.Contains(files, file) {
		data, err := fs.ReadFile(l.config.Builtins, file)
		return string(data), err
	}
	module, function, _ := strings.Cut(name, ".")
	file := module + ".star"
	if slices.Contains(files, file) {
		defs, err := definitions(l.config.Builtins, file)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(defs, func(d *syntax.DefStmt) bool { return d.Name.Name == function })
		if i >= 0 {
			return sourceOf(l.config.Builtins, file, defs[i])
		}
	}
	return "", fmt.Errorf("no built-in component %s.%s `torchx builtins` lists them", brief(name), closeTo(name, l.builtinNames()))
}

// sourceOf cuts a definition out of its file.
func sourceOf(fsys fs.FS, file string, def *syntax.DefStmt) (string, error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return "", err
	}
	start, end := def.Span()
	lines := strings.SplitAfter(string(data), "\n")
	return strings.Join(lines[start.Line-1:min(int(end.Line), len(lines))], ""), nil
}

// starFiles lists the Starlark files at the root of fsys, sorted; test files have
// no components.
func starFiles(fsys fs.FS) []string {
	if fsys == nil {
		return nil
	}
	names, err := fs.Glob(fsys, "*.star")
	if err != nil { // only a bad pattern is an error
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.star") })
}

// definitions parses a file and returns its public functions. What is no
// regular file of a sane size is not opened: a pipe would block for ever.
func definitions(fsys fs.FS, name string) ([]*syntax.DefStmt, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > interp.MaxSource {
		return nil, fmt.Errorf("%s is no Starlark file", name)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	// Anything goes: whether the interpreter takes it shows when it is executed.
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	file, err := options.Parse(name, data, 0)
	if err != nil {
		return nil, err
	}
	var defs []*syntax.DefStmt
	for _, stmt := range file.Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok && !strings.HasPrefix(def.Name.Name, "_") {
			defs = append(defs, def)
		}
	}
	return defs, nil
}

// componentName joins "dist.star" and "ddp" to "dist.ddp".
func componentName(file, function string) string {
	return strings.TrimSuffix(file, ".star") + "." + function
}

// names lists the public functions of all files at the root of fsys. Files
// that cannot be read have none: names only serve suggestions.
func names(fsys fs.FS) []string {
	var out []string
	for _, file := range starFiles(fsys) {
		defs, err := definitions(fsys, file)
		if err != nil {
			continue
		}
		for _, def := range defs {
			out = append(out, componentName(file, def.Name.Name))
		}
	}
	return out
}

func (l *Loader) builtinNames() []string { return names(l.config.Builtins) }

// known lists the components that can be named MODULE.FUNCTION here.
func (l *Loader) known() []string {
	project := names(os.DirFS(filepath.Join(l.root(), "components")))
	return append(project, l.builtinNames()...)
}

// closeTo returns a did-you-mean for a component's name: one spelled much like
// it, else one whose function is.
func closeTo(text string, known []string) string {
	if hint := suggest.Hint(text, known); hint != "" {
		return hint
	}
	last := text[strings.LastIndexByte(text, '.')+1:]
	functions := map[string]string{}
	var among []string
	for _, name := range known {
		function := name[strings.LastIndexByte(name, '.')+1:]
		if _, again := functions[function]; !again {
			functions[function] = name
			among = append(among, function)
		}
	}
	if function, ok := suggest.Closest(last, among); ok {
		return " Did you mean " + functions[function] + "?"
	}
	return ""
}
