// Package component turns a reference such as "dist.ddp" or "train.star:main"
// and the arguments behind it into an App.
//
// A component is a public Starlark function that returns a specs.AppDef. Its
// parameters are what a user can set: names from the function, types from the
// `Args:` section of the docstring, else from the defaults, else str. One call
// goes this way:
//
//	Loader.Find  reference → file → function → Component with its Params
//	Build        arguments, JSON, config → Starlark values → call → *spec.App
//
// Errors are one line. *UsageError is about what was typed (exit code 2), ErrHelp
// asks for Component.Help; errors of the Starlark code itself come through
// unchanged, so that their backtrace can be shown.
package component

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// Component is a function that can be called with arguments from a command line.
type Component struct {
	// Name is the canonical name, used in [component:NAME]: "dist.ddp" for a project's or built-in
	// component, else the reference.
	Name string
	// Ref is the reference as the user wrote it.
	Ref string
	// File is the absolute path of the file, or the label of a built-in one.
	File string
	// Doc is the docstring without its sections on arguments and results.
	Doc    string
	Params []Param

	run    evaluator
	detail func() Detail
}

// evaluator calls the component of a loaded file.
type evaluator interface {
	// call returns the app that the component returns.
	call(ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (*spec.App, error)
	// modules lists all loaded files.
	modules() []Module
	// getenv returns the environment variables that were read.
	getenv() map[string]string
}

// Module is a file that took part in building an app.
type Module = interp.ModuleHash

// Result is a built app and everything it was built from.
type Result struct {
	App *spec.App
	// Args are the arguments as typed, merged with the recorded ones.
	Args    []string
	Modules []Module
	// Getenv holds the environment variables that the component read.
	Getenv map[string]string
	// Warnings are lines for the user, such as unknown config keys.
	Warnings []string
}

// Build calls the component with in. Errors: ErrHelp, *UsageError, those of a config section and of
// the component. The app is not validated.
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
		App: app, Args: append([]string{}, b.typed...), Modules: c.run.modules(),
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

// Error returns one line that names the component and where to look up its arguments.
func (e *UsageError) Error() string {
	return fmt.Sprintf("torchx run %s: %s (see `torchx run %s --help`)", e.Component, e.Text, e.Component)
}

// session is one interpreter with all that one component loads, so that a run records its own files
// only.
type session struct {
	interp *interp.Interp
	root   string // the workspace whose libraries a component of a library sees
	fn     *starlark.Function
	reads  map[string]string // by torchx.getenv
}

func (l *Loader) newSession() *session {
	s := &session{reads: map[string]string{}, root: l.root()}
	c := l.config
	s.interp = interp.New(interp.Config{
		Dir: l.dir(), Builtins: c.Builtins, Library: c.Library, Print: c.Print, Fatal: c.Fatal,
		Predeclared: specmodule.Predeclared(specmodule.Options{
			Image: c.Image, Version: c.Version, Getenv: c.Getenv, Resources: c.Resources,
			OnGetenv: func(name, value string) { s.reads[name] = value },
			ExpandUser: func() string {
				home, _ := os.UserHomeDir() // "" leaves ~ as it is
				return home
			},
			// pre_proc runs when an app is planned, long after Build.
			Call: func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
				return s.interp.Call(context.Background(), fn, args, nil)
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

// call names the function in an error about its result: its author has to change it.
func (s *session) call(ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (app *spec.App, err error) {
	err = s.interp.CallFor(ctx, s.fn, args, kwargs, func(v starlark.Value) (err error) {
		if app, err = specmodule.ToApp(v); err != nil {
			return fmt.Errorf("%s: component %s: %w", s.fn.Position(), s.fn.Name(), err)
		}
		return nil
	})
	return app, err
}

func (s *session) modules() []Module { return s.interp.Modules() }

func (s *session) getenv() map[string]string { return maps.Clone(s.reads) }

// Detail is what the text of its file tells about a component.
type Detail struct {
	// Line is where the definition begins, from 1; 0 if it is in another file.
	Line int
	// Source is the text of the definition, "" if it is in another file.
	Source string
	// Defaults are the defaults of parameters as they are written, by name.
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

// detailOf describes a function of a module.
func detailOf(m *interp.Module, fn *starlark.Function) Detail {
	d := Detail{Defaults: map[string]string{}}
	file := m.Syntax()
	if file == nil {
		return d
	}
	if literal := interp.Docstring(file.Stmts); literal != nil {
		d.Module = strings.TrimSpace(strings.Join(dedent(literal.Value.(string)), "\n"))
	}
	def := findDef(file, fn)
	if def == nil {
		return d
	}
	lines := interp.NewLines(string(m.Source))
	d.Line, d.Source = int(def.Def.Line), linesOf(&lines, def)
	for _, p := range interp.Params(def) {
		if p.Default != nil {
			from, to := p.Default.Span()
			text := lines.Text[lines.Offset(int(from.Line), int(from.Col)):lines.Offset(int(to.Line), int(to.Col))]
			d.Defaults[p.Name] = strings.Join(strings.Fields(text), " ")
		}
	}
	return d
}
