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

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
	"torchx/starlark/interp"
)

// Component is a function that can be called with arguments from a command line.
type Component struct {
	// Name is the canonical name, the one of [component:NAME] config sections:
	// "dist.ddp" for whatever refers to the components folder or the built-in
	// library, else the reference itself.
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

// evaluator is the part of a loaded file that Build needs.
type evaluator interface {
	// call calls the component's function.
	call(ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
	// app converts what it returned.
	app(v starlark.Value) (*spec.App, error)
	// modules lists all files that were loaded for it.
	modules() []Module
	// getenv lists the environment variables that were read, and what was read.
	getenv() map[string]string
}

// Module is a file that took part in building an app.
type Module = interp.ModuleHash

// Result is a built app and everything it was built from.
type Result struct {
	App *spec.App
	// Args are the arguments as they were typed, with the recorded ones that count.
	Args    []string
	Modules []Module
	// Getenv holds the environment variables that the component read.
	Getenv map[string]string
	// Warnings are lines for the user, such as config keys that mean nothing.
	Warnings []string
}

// Build calls the component with in. Errors: ErrHelp, *UsageError, those of a
// config section, and those of the component itself. The app is not validated.
func (c *Component) Build(ctx context.Context, in Inputs) (*Result, error) {
	b, err := c.bind(in)
	if err != nil {
		return nil, err
	}
	v, err := c.run.call(ctx, b.args, b.kwargs)
	if err != nil {
		return nil, err
	}
	app, err := c.run.app(v)
	if err != nil {
		return nil, err
	}
	return &Result{
		App: app, Args: append([]string{}, b.typed...), Modules: c.run.modules(),
		Getenv: c.run.getenv(), Warnings: b.warnings,
	}, nil
}
