package interp

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
)

// A check refuses a call before it begins.
type check = func(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) error

// guardedUniverse returns the universal functions that iterate, print or build values in one step,
// with their checks.
func guardedUniverse() starlark.StringDict {
	env := starlark.StringDict{}
	for name, c := range map[string]check{
		"any": checkWalk(itemBytes), "all": checkWalk(itemBytes), "min": checkMinMax, "max": checkMinMax,
		"list": checkWalk(itemBytes), "tuple": checkWalk(itemBytes), "reversed": checkWalk(itemBytes), "bytes": checkWalk(itemBytes),
		"sorted": checkWalk(32), "enumerate": checkWalk(64), "set": checkWalk(entryBytes), "dict": checkWalk(entryBytes),
		"zip": checkZip,
		"str": checkPrinted, "repr": checkPrinted, "print": checkPrinted, "fail": checkPrinted,
		"int": checkInt,
	} {
		env[name] = guardedBuiltin(starlark.Universe[name].(*starlark.Builtin), c)
	}
	env["getattr"] = guardedGetattr(starlark.Universe["getattr"].(*starlark.Builtin))
	return env
}

// guardedBuiltin returns b with a check before each call, under the same name and receiver.
func guardedBuiltin(b *starlark.Builtin, c check) *starlark.Builtin {
	guarded := starlark.NewBuiltin(b.Name(), func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := c(t, b.Name(), args, kwargs); err != nil {
			return nil, err
		}
		return b.CallInternal(t, args, kwargs)
	})
	if recv := b.Receiver(); recv != nil {
		return guarded.BindReceiver(recv)
	}
	return guarded
}

// guardedGetattr returns getattr with guarded methods, as x.name has.
func guardedGetattr(b *starlark.Builtin) *starlark.Builtin {
	return starlark.NewBuiltin(b.Name(), func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := b.CallInternal(t, args, kwargs)
		if err != nil {
			return nil, err
		}
		return guardMethod(v), nil
	})
}

// checkWalk bounds every iterable argument. each is the memory that the function needs per item.
func checkWalk(each uint64) check {
	return func(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
		for _, v := range values(args, kwargs) {
			if err := checkItems(t, name, v, each); err != nil {
				return err
			}
		}
		return nil
	}
}

func values(args starlark.Tuple, kwargs []starlark.Tuple) starlark.Tuple {
	if len(kwargs) == 0 {
		return args
	}
	all := slices.Clone(args)
	for _, kv := range kwargs {
		all = append(all, kv[1])
	}
	return all
}

func checkMinMax(t *starlark.Thread, name string, args starlark.Tuple, _ []starlark.Tuple) error {
	if len(args) != 1 {
		return nil
	}
	return checkItems(t, name, args[0], itemBytes)
}

// checkZip bounds rows times columns; the shortest argument determines the rows.
func checkZip(t *starlark.Thread, name string, args starlark.Tuple, _ []starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	each := itemBytes * uint64(len(args)+2)
	limit := maxValue / each
	rows, shortest := uint64(0), starlark.Value(nil)
	for _, v := range args {
		if n := countItems(v, limit); shortest == nil || n < rows {
			rows, shortest = n, v
		}
	}
	if rows > limit {
		return tooManyItems(name, shortest, rows, limit)
	}
	return charge(t, name, rows*each)
}

func checkPrinted(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	n, err := printedSize(name, args...)
	if err != nil {
		return err
	}
	for _, kv := range kwargs { // sep comes between any two arguments
		n += saturatingMul(contentBytes(kv[1]), uint64(len(args)))
	}
	return charge(t, name, n)
}

// checkInt bounds int(text): reading n digits takes n² time.
func checkInt(_ *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	for _, v := range values(args, kwargs) {
		if s, ok := v.(starlark.String); ok && len(s) > maxDigits {
			return &LimitError{Limit: "size", Msg: fmt.Sprintf("%s would read %d digits, over the limit of %d", name, len(s), maxDigits)}
		}
	}
	return nil
}
