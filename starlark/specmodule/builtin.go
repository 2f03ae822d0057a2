package specmodule

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// call is a call of a built-in function.
type call struct {
	thread *starlark.Thread
	name   string // "specs.replace"
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

type function = func(c call) (starlark.Value, error)

// namedError is an error to which builtin does not add the name of the function.
type namedError struct{ error }

// unpack reads the arguments, as starlark.UnpackArgs.
func (c call) unpack(pairs ...any) error {
	if err := starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...); err != nil {
		return namedError{err}
	}
	return nil
}

// builtin returns f as a Starlark function. Its errors begin with name.
func builtin(name string, f function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := f(call{t, name, args, kwargs})
		var named namedError
		switch {
		case errors.As(err, &named):
			return nil, named.error
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return v, nil
	})
}

// module makes a module of functions, which are called NAME.MEMBER, and other values.
func module(name string, functions map[string]function, values starlark.StringDict) *starlarkstruct.Module {
	m := &starlarkstruct.Module{Name: name, Members: starlark.StringDict{}}
	for member, f := range functions {
		m.Members[member] = builtin(name+"."+member, f)
	}
	for member, v := range values {
		m.Members[member] = v
	}
	return m
}
