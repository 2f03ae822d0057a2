package interp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// parts yields each value directly inside v. Types of other packages check their own values.
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

// functionParts yields the defaults of parameters and the captured variables.
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

// Errors of textSize.
var (
	errTooDeep = errors.New("too deep")
	errTooLong = errors.New("too long")
	errTooMany = errors.New("too many parts")
)

// textSize adds up the printed length of a value, up to maxValue.
type textSize struct {
	n     uint64
	nodes int
	depth int
	path  []starlark.Value // lists and dicts being printed, to detect cycles
}

// printedSize returns the length of values printed by what, overestimated at most 4 times. It
// returns an error if that is too large.
func printedSize(what string, values ...starlark.Value) (uint64, error) {
	var s textSize
	for _, v := range values {
		if text, ok := v.(starlark.String); ok {
			s.n += uint64(len(text)) // not quoted
			continue
		}
		switch err := s.add(v); {
		case errors.Is(err, errTooDeep):
			return 0, &LimitError{Limit: "size", Msg: what + " would print a value that is nested too deep"}
		case errors.Is(err, errTooMany):
			return 0, &LimitError{Limit: "size", Msg: fmt.Sprintf("%s would print a value of more than %d parts", what, maxNodes)}
		case errors.Is(err, errTooLong):
			return 0, tooBig(what, s.n)
		}
	}
	return s.n, nil
}

func (s *textSize) add(v starlark.Value) error {
	s.n += scalarSize(v)
	s.nodes++
	switch {
	case s.n > maxValue:
		return errTooLong
	case s.nodes > maxNodes:
		return errTooMany
	}
	switch v.(type) {
	case *starlark.List, *starlark.Dict:
		if slices.Contains(s.path, v) {
			return nil
		}
		s.path = append(s.path, v)
		defer func() { s.path = s.path[:len(s.path)-1] }()
	case *starlark.Function, *starlark.Builtin:
		return nil // only the name is printed
	}
	if s.depth == maxDepth {
		return errTooDeep
	}
	s.depth++
	defer func() { s.depth-- }()
	var err error
	parts(v, func(p starlark.Value) bool {
		err = s.add(p)
		return err == nil
	})
	return err
}

// scalarSize estimates the printed length of v without its parts.
func scalarSize(v starlark.Value) uint64 {
	switch v := v.(type) {
	case starlark.String:
		return 4*uint64(len(v)) + 4 // every byte escaped
	case starlark.Bytes:
		return 4*uint64(len(v)) + 4
	case starlark.Int:
		return uint64(intBits(v))/3 + 2
	case *starlark.List, *starlark.Dict, *starlark.Set, starlark.Tuple:
		return 4
	}
	return 64
}

// checkInterpolate bounds format % y. Each %(name)s may print the same value of a dict again.
func checkInterpolate(t *starlark.Thread, format string, y starlark.Value) error {
	values := []starlark.Value{y}
	if tuple, ok := y.(starlark.Tuple); ok {
		values = tuple
	}
	n, err := printedSize("%", values...)
	if err != nil {
		return err
	}
	if _, ok := y.(starlark.Mapping); ok {
		n = saturatingMul(n, uint64(strings.Count(format, "%")))
	}
	return charge(t, "%", n+uint64(len(format)))
}

func saturatingMul(a, b uint64) uint64 {
	if a != 0 && b > (1<<62)/a {
		return 1 << 62
	}
	return a * b
}

// CheckCompare returns a *LimitError if values are too large to compare in Go.
func CheckCompare(what string, values ...starlark.Value) error {
	for _, v := range values {
		if err := checkComparable(what, v); err != nil {
			return err
		}
	}
	return nil
}

// CheckPrint returns a *LimitError if the text of values would be too long.
func CheckPrint(what string, values ...starlark.Value) error {
	n, err := printedSize(what, values...)
	if err == nil && n > maxValue {
		err = tooBig(what, n)
	}
	return err
}

// IsStopped reports whether err means that the evaluation was stopped, so that the caller must
// return too.
func IsStopped(err error) bool { return isCanceled(err) }

// Explain returns the *Error of a call that Go code made on a thread of i.
func (i *Interp) Explain(err error) *Error { return i.describe(err) }
