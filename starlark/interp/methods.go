package interp

import (
	"strings"
	"unicode"

	"go.starlark.net/starlark"
)

// A methodCheck rejects a call of a method of recv before it begins.
type methodCheck = func(t *starlark.Thread, name string, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) error

// guardedMethods are the built-in methods that iterate or build values in one step. Types of other
// packages check their own methods.
var guardedMethods = map[string]methodCheck{
	"replace": checkReplace, "join": checkJoin, "format": checkFormat,
	"split": checkSplit, "rsplit": checkSplit, "splitlines": checkSplitLines,
	"upper": checkCopy, "lower": checkCopy, "title": checkCopy, "capitalize": checkCopy,
	"extend": checkListExtend,
	"update": checkHashed, "union": checkHashed, "intersection": checkHashed, "difference": checkHashed,
	"symmetric_difference": checkHashed, "issubset": checkHashed, "issuperset": checkHashed,
	"items": checkHashed, "keys": checkHashed, "values": checkHashed,
}

// methodGuard returns x.name with its guard, given the value of x.name.
func methodGuard(_ *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	return guardMethod(args[0]), nil
}

// guardMethod adds its check to a bound method of a built-in type.
func guardMethod(v starlark.Value) starlark.Value {
	b, ok := v.(*starlark.Builtin)
	if !ok {
		return v
	}
	recv := b.Receiver()
	switch recv.(type) {
	case starlark.String, *starlark.List, *starlark.Dict, *starlark.Set:
	default:
		return v
	}
	c := guardedMethods[b.Name()]
	if c == nil {
		return v
	}
	return guardedBuiltin(b, func(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
		return c(t, name, recv, args, kwargs)
	})
}

func checkCopy(t *starlark.Thread, name string, recv starlark.Value, _ starlark.Tuple, _ []starlark.Tuple) error {
	return charge(t, name, contentBytes(recv))
}

func checkListExtend(t *starlark.Thread, name string, recv starlark.Value, args starlark.Tuple, _ []starlark.Tuple) error {
	if list, ok := recv.(*starlark.List); ok && len(args) == 1 {
		return checkExtend(t, name, list, args[0])
	}
	return nil
}

// checkHashed bounds the methods of dicts and sets, which copy the receiver and iterate over their
// arguments.
func checkHashed(t *starlark.Thread, name string, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if name != "update" && name != "issubset" && name != "issuperset" {
		if err := charge(t, name, 64*uint64(max(starlark.Len(recv), 0))); err != nil {
			return err
		}
	}
	return checkWalk(entryBytes)(t, name, args, kwargs)
}

// checkReplace bounds the size of the result: a short call can ask for petabytes.
func checkReplace(t *starlark.Thread, name string, recv starlark.Value, args starlark.Tuple, _ []starlark.Tuple) error {
	if len(args) < 2 {
		return nil
	}
	s, ok1 := starlark.AsString(recv)
	old, ok2 := starlark.AsString(args[0])
	with, ok3 := starlark.AsString(args[1])
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	times := uint64(strings.Count(s, old))
	if len(args) > 2 {
		if limit, err := starlark.AsInt32(args[2]); err == nil && limit >= 0 {
			times = min(times, uint64(limit))
		}
	}
	if len(with) <= len(old) {
		return charge(t, name, uint64(len(s)))
	}
	return charge(t, name, uint64(len(s))+saturatingMul(times, uint64(len(with)-len(old))))
}

func checkJoin(t *starlark.Thread, name string, recv starlark.Value, args starlark.Tuple, _ []starlark.Tuple) error {
	sep, _ := starlark.AsString(recv)
	if len(args) != 1 {
		return nil
	}
	it, ok := args[0].(starlark.Iterable)
	if !ok {
		return nil
	}
	if err := checkItems(t, name, it, 1); err != nil {
		return err
	}
	iter := it.Iterate()
	defer iter.Done()
	var n uint64
	for x := starlark.Value(nil); iter.Next(&x); {
		s, _ := starlark.AsString(x)
		n += uint64(len(s) + len(sep))
	}
	return charge(t, name, n)
}

// checkFormat assumes the longest argument for each replacement field.
func checkFormat(t *starlark.Thread, name string, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) error {
	s, _ := starlark.AsString(recv)
	var longest uint64
	for _, v := range values(args, kwargs) {
		if text, ok := v.(starlark.String); ok && !strings.Contains(s, "!r") {
			longest = max(longest, uint64(len(text)))
			continue
		}
		n, err := printedSize(name, starlark.Tuple{v})
		if err != nil {
			return err
		}
		longest = max(longest, n)
	}
	return charge(t, name, uint64(len(s))+saturatingMul(longest, uint64(strings.Count(s, "{"))))
}

// checkSplit bounds the number of pieces; each takes a string and an item.
func checkSplit(t *starlark.Thread, name string, recv starlark.Value, args starlark.Tuple, _ []starlark.Tuple) error {
	s, _ := starlark.AsString(recv)
	// The engine allocates maxsplit pieces before it searches.
	if len(args) > 1 {
		if limit, ok := args[1].(starlark.Int); ok {
			if n, fits := limit.Int64(); fits && n > maxItems {
				return tooBig(name, saturatingMul(uint64(n), itemBytes))
			}
		}
	}
	if len(s) < maxItems/4 {
		return nil
	}
	sep := ""
	if len(args) > 0 {
		sep, _ = starlark.AsString(args[0])
	}
	n := strings.Count(s, sep) + 1
	if sep == "" {
		n = countFields(s)
	}
	return charge(t, name, 3*itemBytes*uint64(n))
}

func checkSplitLines(t *starlark.Thread, name string, recv starlark.Value, _ starlark.Tuple, _ []starlark.Tuple) error {
	s, _ := starlark.AsString(recv)
	return charge(t, name, 3*itemBytes*uint64(strings.Count(s, "\n")+1))
}

func countFields(s string) int {
	n, space := 0, true
	for _, r := range s {
		isSpace := unicode.IsSpace(r)
		if space && !isSpace {
			n++
		}
		space = isSpace
	}
	return n
}
