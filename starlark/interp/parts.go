package interp

import (
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// parts calls yield with each value directly inside v, until it returns false.
// Values of other packages have no parts here: they check their own.
func parts(v starlark.Value, yield func(starlark.Value) bool) {
	switch v := v.(type) {
	case starlark.Tuple, *starlark.List, *starlark.Set:
		for x := range starlark.Elements(v.(starlark.Iterable)) {
			if !yield(x) {
				return
			}
		}
	case *starlark.Dict:
		for k, x := range v.Entries() {
			if !yield(k) || !yield(x) {
				return
			}
		}
	case *starlark.Function:
		functionParts(v, yield)
	case *starlark.Builtin:
		if v.Receiver() != nil {
			yield(v.Receiver())
		}
	case *starlarkstruct.Struct:
		structParts(v, yield)
	}
}

// functionParts are the defaults of parameters and the captured variables.
func functionParts(fn *starlark.Function, yield func(starlark.Value) bool) {
	for i := range fn.NumParams() {
		if x := fn.ParamDefault(i); x != nil && !yield(x) {
			return
		}
	}
	for i := range fn.NumFreeVars() {
		if _, x := fn.FreeVar(i); x != nil && !yield(x) {
			return
		}
	}
}

func structParts(s *starlarkstruct.Struct, yield func(starlark.Value) bool) {
	for _, name := range s.AttrNames() {
		if x, err := s.Attr(name); err == nil && x != nil && !yield(x) {
			return
		}
	}
}
