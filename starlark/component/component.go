// Package component turns a reference such as "dist.ddp" or "train.star:main"
// and the arguments after it into an App.
//
// A component is a public Starlark function that returns a specs.AppDef. Users set
// its parameters: names come from the function, types from the `Args:` section of the
// docstring, else from the defaults, else str. A call has two steps:
//
//	Loader.Find  reference → file → function → Component with its Params
//	Build        arguments, JSON, config → Starlark values → call → *spec.App
//
// Errors are one line. *UsageError is about the arguments (exit code 2), ErrHelp
// asks for Component.Help; errors of the Starlark code are returned unchanged, so that
// their backtrace can be shown.
package component

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/spec"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// Component is a function that can be called with arguments from a command line.
type Component struct {
	// Name is the canonical name, used in [component:NAME]: MODULE.FUNCTION, such as "dist.ddp",
	// for a component of the project or a built-in one, else the reference.
	Name string
	// Ref is the reference as the user wrote it.
	Ref string
	// File is the absolute path of the file, or the label of a built-in file.
	File string
	// Doc is the docstring without its sections on arguments and results.
	Doc    string
	Params []Param

	run    evaluator
	detail func() Detail
}

// ConfigNames returns the names of sections [component:NAME] that may hold arguments of the
// component, the strongest first: its own, and for a component of the user's those of the Python
// file that it was ported from.
func (c *Component) ConfigNames() []string {
	file, function, inFile := strings.Cut(c.Name, ".star:")
	at := strings.LastIndexByte(c.Name, '.')
	switch {
	case inFile:
		return []string{c.Name, file + ".py:" + function}
	case at < 0 || strings.HasPrefix(c.File, "@"):
		return []string{c.Name}
	}
	file = strings.ReplaceAll(c.Name[:at], ".", "/") + ".py:" + c.Name[at+1:]
	return []string{c.Name, file, "components/" + file}
}

// evaluator calls the component of a loaded file.
type evaluator interface {
	// call calls the component and returns its app.
	call(ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (*spec.App, error)
	// modules lists all loaded files.
	modules() []Module
	// getenv returns the environment variables that were read.
	getenv() map[string]string
}

// Module is a file that was loaded to build an app.
type Module = interp.ModuleHash

// Result is a built app and its inputs.
type Result struct {
	App       *spec.App
	Component string // its name in the history
	// Args are the arguments as typed, merged with the recorded ones.
	Args    []string
	Modules []Module
	// Getenv holds the environment variables that the component read.
	Getenv map[string]string
	// Warnings are lines for the user, such as unknown config keys.
	Warnings []string
}

// Build calls the component with in. Errors: ErrHelp, *UsageError, errors of the config section and
// of the component. The app is not validated.
func (c *Component) Build(ctx context.Context, in Inputs) (*Result, error) {
	b, err := c.bind(in)
	if err != nil {
		return nil, err
	}
	app, err := c.run.call(ctx, b.args, b.kwargs)
	if err != nil {
		return nil, err
	}
	return &Result{
		App: app, Component: c.Name, Args: append([]string{}, b.typed...), Modules: c.run.modules(),
		Getenv: c.run.getenv(), Warnings: b.warnings,
	}, nil
}

// ErrHelp is returned by Component.Build when the arguments ask for help.
var ErrHelp = errors.New("help requested")

// UsageError says that the arguments of a component are wrong (exit code 2).
type UsageError struct {
	Component string // as the user named it
	Text      string // what is wrong, one line
}

// Error returns one line that names the component and the command that shows its arguments.
func (e *UsageError) Error() string {
	return fmt.Sprintf("torchx run %s: %s (see `torchx run %s --help`)", e.Component,
		e.Text, e.Component)
}

// session is one interpreter with everything that one component loads, so that a run records only
// the component's files.
type session struct {
	interp *interp.Interp
	root   string // the workspace, whose libraries library components can load
	fn     *starlark.Function
	reads  map[string]string // read by torchx.getenv
}

func (l *Loader) newSession() *session {
	s := &session{reads: map[string]string{}, root: l.root()}
	c := l.config
	s.interp = interp.New(interp.Config{
		Dir: l.dir(), Builtins: c.Builtins, Library: c.Library, Print: c.Print, Fatal: c.Fatal,
		Predeclared: specmodule.Predeclared(specmodule.Options{
			Image: c.Image, Version: c.Version, Getenv: c.Getenv, Resources: c.Resources,
			OnGetenv: func(name, value string) { s.reads[name] = value },
			Cwd: func() string {
				if dir, err := filepath.EvalSymlinks(l.dir()); err == nil { // as Python's os.getcwd
					return dir
				}
				return l.dir()
			},
			ExpandUser: func() string {
				home, _ := os.UserHomeDir() // "" leaves ~ as it is
				return home
			},
			// pre_proc runs when an app is planned, long after Build.
			Call: func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
				v, err := s.interp.Call(context.Background(), fn, args, nil)
				var at *interp.Error
				if errors.As(err, &at) && strings.HasPrefix(at.File, "@torchx//") {
					err = errors.New(strings.TrimPrefix(at.Msg, "fail: ")) // its position does not help the user
				}
				return v, err
			},
		}),
	})
	return s
}

func (s *session) load(ctx context.Context, p location) (*interp.Module, error) {
	switch {
	case p.path != "":
		return s.interp.LoadFile(ctx, p.path)
	case p.builtin != "":
		return s.interp.LoadBuiltin(ctx, p.builtin)
	default:
		return s.interp.LoadLibrary(ctx, s.root, p.library, p.file)
	}
}

// call names the function in an error about its result, since its author has to change it.
func (s *session) call(
	ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple,
) (app *spec.App, err error) {
	err = s.interp.CallFor(ctx, s.fn, args, kwargs, func(v starlark.Value) (err error) {
		if app, err = specmodule.ToApp(v); err != nil {
			at := s.fn.Position()
			return &interp.Error{File: at.Filename(), Line: int(at.Line), Col: int(at.Col), Msg: fmt.Sprintf("component %s: %v", s.fn.Name(), err)}
		}
		return nil
	})
	return app, err
}

func (s *session) modules() []Module { return s.interp.Modules() }

func (s *session) getenv() map[string]string { return maps.Clone(s.reads) }

// Detail describes a component from the text of its file.
type Detail struct {
	// Line is the first line of the definition, from 1; 0 if the definition is in another file.
	Line int
	// Source is the text of the definition; "" if it is in another file.
	Source string
	// Defaults are the defaults of parameters as written, by name.
	Defaults map[string]string
	// Module is the docstring of the file.
	Module string
}

// Detail reads the component's file again. It never fails: unknown fields stay empty.
func (c *Component) Detail() Detail {
	if c.detail == nil {
		return Detail{}
	}
	return c.detail()
}

// fileText is the parsed text of a file.
type fileText struct {
	tree  *syntax.File // nil if the syntax is not available
	lines interp.Lines
	doc   string
	defs  map[definition]*syntax.DefStmt
}

// definition identifies a function of a file.
type definition struct {
	name string
	line int32
}

func newFileText(tree *syntax.File, source []byte) *fileText {
	t := &fileText{tree: tree, lines: interp.NewLines(string(source)), defs: map[definition]*syntax.DefStmt{}}
	if t.tree == nil {
		return t
	}
	if literal := interp.Docstring(t.tree.Stmts); literal != nil {
		t.doc = strings.TrimSpace(strings.Join(dedent(literal.Value.(string)), "\n"))
	}
	for _, s := range t.tree.Stmts {
		if def, ok := s.(*syntax.DefStmt); ok {
			t.defs[definition{def.Name.Name, def.Def.Line}] = def
		}
	}
	return t
}

// definition returns the definition of fn, nil if it is in another file.
func (t *fileText) definition(fn *starlark.Function) *syntax.DefStmt {
	if t.tree == nil || t.tree.Path != fn.Position().Filename() {
		return nil
	}
	return t.defs[definition{fn.Name(), fn.Position().Line}]
}

// detail describes a function.
func (t *fileText) detail(fn *starlark.Function) Detail {
	d := Detail{Defaults: map[string]string{}, Module: t.doc}
	def := t.definition(fn)
	if def == nil {
		return d
	}
	d.Line, d.Source = int(def.Def.Line), linesOf(&t.lines, def)
	for _, p := range interp.Params(def) {
		if p.Default != nil {
			from, to := p.Default.Span()
			text := t.lines.Text[t.lines.Offset(int(from.Line), int(from.Col)):t.lines.Offset(int(to.Line), int(to.Col))]
			d.Defaults[p.Name] = strings.Join(strings.Fields(text), " ")
		}
	}
	return d
}
