package interp

import (
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
)

// An invocation is a call of a universal function, or of a method of recv, that did not begin.
type invocation struct {
	step
	recv   starlark.Value // nil for a function
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

// A check returns an error for a call that would iterate, print or build too much in one step.
type check = func(invocation) error

// functionChecks are the checks of universal functions. Without them list(range(1 << 40)) asks for
// 16 TiB at once, max(range(1 << 40)) and str() of lists that contain one another many times do not
// end, and int("9" * 10000000) takes hours.
var functionChecks = map[string]check{
	"any": checkWalk(itemBytes), "all": checkWalk(itemBytes), "min": checkMinMax, "max": checkMinMax,
	"list": checkWalk(itemBytes), "tuple": checkWalk(itemBytes), "reversed": checkWalk(itemBytes),
	"bytes": checkWalk(itemBytes), "sorted": checkWalk(32), "enumerate": checkWalk(64),
	"set": checkWalk(entryBytes), "dict": checkWalk(entryBytes), "zip": checkZip,
	"str": checkPrinted, "repr": checkPrinted, "print": checkPrinted, "fail": checkPrinted,
	"int": checkInt,
}

// methodChecks are the checks of methods of built-in types. Without them replace asks for 256 TiB
// and rsplit(None, 1 << 40) for 16 TiB at once, join and format fill the memory in one step, and
// extend and the methods of sets do not end with range(1 << 40). Types of other packages check
// their own methods.
var methodChecks = map[string]check{
	"replace": checkReplace, "join": checkJoin, "format": checkFormat,
	"split": checkSplit, "rsplit": checkSplit, "splitlines": checkSplitLines, "extend": checkExtend,
	"update": checkWalk(entryBytes), "union": checkWalk(entryBytes),
	"intersection": checkWalk(entryBytes), "difference": checkWalk(entryBytes),
	"symmetric_difference": checkWalk(entryBytes),
	"issubset":             checkWalk(entryBytes), "issuperset": checkWalk(entryBytes),
}

// guardedUniverse returns the universal functions that have a check, and getattr, whose methods
// have theirs.
func guardedUniverse() starlark.StringDict {
	env := starlark.StringDict{}
	for name, c := range functionChecks {
		env[name] = guardedBuiltin(starlark.Universe[name].(*starlark.Builtin), c)
	}
	getattr := starlark.Universe["getattr"].(*starlark.Builtin)
	env["getattr"] = starlark.NewBuiltin("getattr", func(
		t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple,
	) (starlark.Value, error) {
		if len(args) > 0 {
			x, err := methodsGuard(t, args)
			if err != nil {
				return nil, err
			}
			args = slices.Concat(starlark.Tuple{x}, args[1:])
		}
		return getattr.CallInternal(t, args, kwargs)
	})
	return env
}

// guardedBuiltin returns b with a check before each call, under the same name and receiver.
func guardedBuiltin(b *starlark.Builtin, c check) *starlark.Builtin {
	guarded := starlark.NewBuiltin(b.Name(), func(
		t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple,
	) (starlark.Value, error) {
		if err := c(invocation{step{t, b.Name()}, b.Receiver(), args, kwargs}); err != nil {
			return nil, err
		}
		return b.CallInternal(t, args, kwargs)
	})
	if recv := b.Receiver(); recv != nil {
		return guarded.BindReceiver(recv)
	}
	return guarded
}

// guardedMethods is a value of a built-in type whose methods have their checks.
type guardedMethods struct{ starlark.HasAttrs }

func (g guardedMethods) Attr(name string) (starlark.Value, error) {
	v, err := g.HasAttrs.Attr(name)
	if b, ok := v.(*starlark.Builtin); ok && methodChecks[name] != nil {
		return guardedBuiltin(b, methodChecks[name]), nil
	}
	return v, err
}

// values returns all arguments.
func (c invocation) values() starlark.Tuple {
	all := c.args
	for _, kv := range c.kwargs {
		all = append(all[:len(all):len(all)], kv[1])
	}
	return all
}

// checkWalk bounds every iterable argument. each is the memory that the function needs per item.
func checkWalk(each uint64) check {
	return func(c invocation) error {
		for _, v := range c.values() {
			if err := c.items(v, each); err != nil {
				return err
			}
		}
		return nil
	}
}

func checkMinMax(c invocation) error {
	if len(c.args) != 1 {
		return nil
	}
	return c.items(c.args[0], itemBytes)
}

// checkZip bounds rows times columns; the shortest argument determines the rows.
func checkZip(c invocation) error {
	if len(c.args) == 0 {
		return nil
	}
	each := itemBytes * uint64(len(c.args)+2)
	limit := maxValue / each
	rows, shortest := uint64(0), starlark.Value(nil)
	for _, v := range c.args {
		if n := countItems(v, limit); shortest == nil || n < rows {
			rows, shortest = n, v
		}
	}
	if rows > limit {
		return c.tooManyItems(shortest, rows, limit)
	}
	return c.charge(rows * each)
}

func checkPrinted(c invocation) error {
	n, err := c.printed(c.args...)
	if err != nil {
		return err
	}
	for _, kv := range c.kwargs { // sep comes between any two arguments
		n += saturatingMul(contentBytes(kv[1]), uint64(len(c.args)))
	}
	return c.charge(n)
}

// checkInt bounds int(text): reading n digits takes n² time.
func checkInt(c invocation) error {
	for _, v := range c.values() {
		if s, ok := v.(starlark.String); ok && len(s) > maxDigits {
			return sizeError("%s would read %d digits, over the limit of %d",
				c.what, len(s), maxDigits)
		}
	}
	return nil
}

func checkExtend(c invocation) error {
	if list, ok := c.recv.(*starlark.List); ok && len(c.args) == 1 {
		return c.extend(list, c.args[0])
	}
	return nil
}

// checkReplace bounds the size of the result: a short call can ask for petabytes.
func checkReplace(c invocation) error {
	if len(c.args) < 2 {
		return nil
	}
	s, ok1 := starlark.AsString(c.recv)
	old, ok2 := starlark.AsString(c.args[0])
	with, ok3 := starlark.AsString(c.args[1])
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	times := uint64(strings.Count(s, old))
	if len(c.args) > 2 {
		if limit, err := starlark.AsInt32(c.args[2]); err == nil && limit >= 0 {
			times = min(times, uint64(limit))
		}
	}
	grown := uint64(max(0, len(with)-len(old)))
	return c.charge(uint64(len(s)) + saturatingMul(times, grown))
}

func checkJoin(c invocation) error {
	sep, _ := starlark.AsString(c.recv)
	if len(c.args) != 1 {
		return nil
	}
	it, ok := c.args[0].(starlark.Iterable)
	if !ok {
		return nil
	}
	if err := c.items(it, 1); err != nil {
		return err
	}
	var n uint64
	for x := range starlark.Elements(it) {
		s, _ := starlark.AsString(x)
		n += uint64(len(s) + len(sep))
	}
	return c.charge(n)
}

// checkFormat assumes the longest argument for each replacement field.
func checkFormat(c invocation) error {
	s, _ := starlark.AsString(c.recv)
	var longest uint64
	for _, v := range c.values() {
		if text, ok := v.(starlark.String); ok && !strings.Contains(s, "!r") {
			longest = max(longest, uint64(len(text)))
			continue
		}
		n, err := c.printed(starlark.Tuple{v})
		if err != nil {
			return err
		}
		longest = max(longest, n)
	}
	return c.charge(uint64(len(s)) + saturatingMul(longest, uint64(strings.Count(s, "{"))))
}

// checkSplit bounds the number of pieces; each takes a string and an item.
func checkSplit(c invocation) error {
	s, _ := starlark.AsString(c.recv)
	// The engine allocates maxsplit pieces before it searches.
	if len(c.args) > 1 {
		if limit, ok := c.args[1].(starlark.Int); ok {
			if n, fits := limit.Int64(); fits && n > maxItems {
				return c.tooBig(saturatingMul(uint64(n), itemBytes))
			}
		}
	}
	if len(s) < maxItems/4 {
		return nil
	}
	sep := ""
	if len(c.args) > 0 {
		sep, _ = starlark.AsString(c.args[0])
	}
	n := strings.Count(s, sep) + 1
	if sep == "" {
		n = countFields(s)
	}
	return c.charge(3 * itemBytes * uint64(n))
}

func checkSplitLines(c invocation) error {
	s, _ := starlark.AsString(c.recv)
	return c.charge(3 * itemBytes * uint64(strings.Count(s, "\n")+1))
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
