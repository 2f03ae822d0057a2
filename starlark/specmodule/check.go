package specmodule

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
)

func wrongType(at string, v starlark.Value, want string) error {
	hint := ""
	switch v.(type) {
	case starlark.Int, starlark.Float, starlark.Bool:
		if want == "string" {
			hint = ": write str(...)"
		}
	}
	return fmt.Errorf("%s: got %s, want %s%s", at, v.Type(), want, hint)
}

// check returns a frozen copy of v, or an error that starts with at, such as `env["X"]`.
type check = func(at string, v starlark.Value) (starlark.Value, error)

// The checks of plain values. Ints have 32 bits, enough for counts and for memory in MB.
var (
	checkString = typed[starlark.String]("string")
	checkBool   = typed[starlark.Bool]("bool")
	checkInt    = ranged(math.MinInt32, math.MaxInt32, "")
	checkCount  = ranged(0, math.MaxInt32, "%s: got %d, want 0 or more")
	checkPort   = ranged(0, math.MaxUint16, "%s: %d is not a port number (0 to 65535)")
)

// typed accepts a value of one Starlark type, which errors call want.
func typed[V starlark.Value](want string) check {
	return func(at string, v starlark.Value) (starlark.Value, error) {
		if _, ok := v.(V); !ok {
			return nil, wrongType(at, v, want)
		}
		return v, nil
	}
}

// checkPath accepts a string that is not empty.
func checkPath(at string, v starlark.Value) (starlark.Value, error) {
	if v == starlark.String("") {
		return nil, fmt.Errorf("%s: must not be empty", at)
	}
	return checkString(at, v)
}

// ranged accepts an int from least to most. format formats the error for other ints of 32 bits.
func ranged(least, most int, format string) check {
	return func(at string, v starlark.Value) (starlark.Value, error) {
		if _, ok := v.(starlark.Int); !ok {
			return nil, wrongType(at, v, "int")
		}
		n, err := starlark.AsInt32(v)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: int %s is out of range", at, abbreviate(v))
		case n < least || n > most:
			return nil, fmt.Errorf(format, at, n)
		}
		return v, nil
	}
}

func checkNumber(at string, v starlark.Value) (starlark.Value, error) {
	switch n := v.(type) {
	case starlark.Int:
		return checkInt(at, v)
	case starlark.Float:
		if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
			return nil, fmt.Errorf("%s: %s is not a finite number", at, n)
		}
		return v, nil
	}
	return nil, wrongType(at, v, "float or int")
}

func checkRetryPolicy(at string, v starlark.Value) (starlark.Value, error) {
	s, ok := v.(starlark.String)
	if !ok {
		return nil, wrongType(at, v, "specs.RetryPolicy.REPLICA, ROLE or APPLICATION")
	}
	if !slices.Contains(spec.RetryPolicies, spec.RetryPolicy(s)) {
		return nil, fmt.Errorf("%s: unknown policy %s, must be one of %v", at,
			abbreviate(s), spec.RetryPolicies)
	}
	return v, nil
}

func checkPermissions(at string, v starlark.Value) (starlark.Value, error) {
	s, ok := v.(starlark.String)
	if !ok {
		return nil, wrongType(at, v, "string")
	}
	if err := validPermissions(string(s)); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return v, nil
}

func checkCallable(at string, v starlark.Value) (starlark.Value, error) {
	if _, ok := v.(starlark.Callable); !ok {
		return nil, wrongType(at, v, "a function f(backend, request)")
	}
	return frozen(v), nil
}

// recordOf accepts a record of one of the kinds.
func recordOf(kinds ...kind) check {
	return func(at string, v starlark.Value) (starlark.Value, error) {
		if r, ok := v.(*record); ok && slices.Contains(kinds, r.kind) {
			return v, nil
		}
		return nil, wrongType(at, v, kindList(kinds))
	}
}

// recordsOf accepts a list or tuple of records of one of the kinds.
func recordsOf(kinds ...kind) check { return listOf(kindList(kinds), recordOf(kinds...)) }

func kindList(kinds []kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}

// The checks of collections of plain values.
var (
	checkStrings    = listOf("string", checkString)
	checkStringDict = dictOf("dict of string to string", checkString)
	checkPorts      = dictOf("dict of string to int", checkPort)
	checkCounts     = dictOf("dict of string to int", checkCount)
)

// listOf accepts a list or tuple of what, whose items pass check, and copies it.
func listOf(what string, check check) check {
	return func(at string, v starlark.Value) (starlark.Value, error) {
		var seq starlark.Indexable
		switch v := v.(type) { // other sequences are refused: a range can have any length
		case *starlark.List:
			seq = v
		case starlark.Tuple:
			seq = v
		default:
			return nil, wrongType(at, v, "list of "+what)
		}
		items := make([]starlark.Value, seq.Len())
		for i := range items {
			item, err := check(fmt.Sprintf("%s[%d]", at, i), seq.Index(i))
			if err != nil {
				return nil, err
			}
			items[i] = item
		}
		return frozen(starlark.NewList(items)), nil
	}
}

// dictOf accepts a dict with string keys whose values pass check, and copies it in its order.
func dictOf(want string, check check) check {
	return func(at string, v starlark.Value) (starlark.Value, error) {
		d, ok := v.(*starlark.Dict)
		if !ok {
			return nil, wrongType(at, v, want)
		}
		out := starlark.NewDict(d.Len())
		for _, kv := range d.Items() {
			if _, ok := kv[0].(starlark.String); !ok {
				return nil, fmt.Errorf("%s: got %s key %s, want string keys",
					at, kv[0].Type(), abbreviate(kv[0]))
			}
			value, err := check(fmt.Sprintf("%s[%s]", at, abbreviate(kv[0])), kv[1])
			if err != nil {
				return nil, err
			}
			if err := out.SetKey(kv[0], value); err != nil {
				return nil, err
			}
		}
		return frozen(out), nil
	}
}

// checkWorkspace accepts a specs.Workspace, or the path of a single project.
func checkWorkspace(at string, v starlark.Value) (starlark.Value, error) {
	if path, ok := v.(starlark.String); ok && path != "" {
		projects := starlark.NewDict(1)
		if err := projects.SetKey(path, starlark.String("")); err != nil {
			return nil, err
		}
		return &record{kind: kindWorkspace, values: []starlark.Value{frozen(projects)}}, nil
	}
	return recordOf(kindWorkspace)(at, v)
}

// checkJSONDict accepts a dict of JSON values and tuples.
func checkJSONDict(at string, v starlark.Value) (starlark.Value, error) {
	c := copier{budget: maxValues}
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, wrongType(at, v, "dict")
	}
	return c.dict(at, d, 0)
}

// abbreviate returns a value as short text for a message.
func abbreviate(v starlark.Value) string {
	const limit = 60
	switch v := v.(type) {
	case starlark.String:
		if len(v) > limit {
			return v[:limit].String() + "..."
		}
	case starlark.Int:
		if v.BigInt().BitLen() > 4*limit {
			return "of very many digits"
		}
	case starlark.NoneType, starlark.Bool, starlark.Float:
	default:
		return "..."
	}
	return v.String()
}
