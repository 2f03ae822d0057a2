package component

import (
	"errors"

	"go.starlark.net/starlark"

	"torchx/starlark/specmodule"
)

// Arguments reads the arguments of a command line for fn, a component that was
// loaded already, and returns what to call it with; resources are those of its
// project. Errors are one line about the arguments, or about the component's docstring.
func Arguments(fn *starlark.Function, args []string, resources ...specmodule.NamedResource) (starlark.Tuple, []starlark.Tuple, error) {
	src := newSource(fn, nil)
	src.resources = func() []string { return specmodule.NamedResourceNames(resources...) }
	params, err := src.params()
	if err != nil {
		return nil, nil, err
	}
	c := &Component{Name: fn.Name(), Ref: fn.Name(), Params: params}
	b, err := c.bind(Inputs{Args: args})
	var usage *UsageError
	switch {
	case errors.As(err, &usage):
		return nil, nil, errors.New(usage.Text)
	case err != nil:
		return nil, nil, err
	}
	return b.args, b.kwargs, nil
}
