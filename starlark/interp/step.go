package interp

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"torchx/runtime/humanize"
)

// Limits of one step of the engine. They keep steps short; the description of a job takes
// kilobytes.
const (
	maxValue   = 64 << 20              // bytes of one string, list …
	maxItems   = maxValue / itemBytes  // items that one step iterates over
	itemBytes  = 16                    // of one item of a list: a Go interface
	entryBytes = 128                   // of one entry of a dict or set
	maxIntBits = 1 << 20               // of a number: a product takes milliseconds
	maxDigits  = maxIntBits * 30 / 100 // decimal digits of such a number
	maxDepth   = 1000                  // levels of a value that is printed, frozen or returned
	maxNodes   = 1 << 20               // parts of a value that is compared, printed, frozen or returned
)

// A step is an operator or a call that the engine cannot interrupt. The watchdog cannot bound it:
// Go ends the process with a trace when list(range(1 << 40)) asks for 16 TiB, [0] * 200000000 takes
// 3 GiB before the watchdog looks, and comparing two lists that contain one another many times does
// not end. The methods of step return an error before such a step begins. A step that only copies a
// value (slices, upper, unions) has no guard: values are small enough for the watchdog to be in
// time.
type step struct {
	thread *starlark.Thread
	what   string // in messages: the operator or the name of the function
}

func sizeError(format string, args ...any) *LimitError {
	return &LimitError{Limit: "size", Msg: fmt.Sprintf(format, args...)}
}

func (s step) tooBig(n uint64) error {
	return sizeError("%s would make a value of %s, over the limit of %s",
		s.what, humanize.RoundBytes(n), humanize.RoundBytes(maxValue))
}

func (s step) tooManyItems(v starlark.Value, n, most uint64) error {
	count := fmt.Sprint(n)
	if starlark.Len(v) < 0 {
		count = "more than " + fmt.Sprint(most)
	}
	return sizeError("%s would walk a %s of %s items in one step, over the limit of %d",
		s.what, v.Type(), count, most)
}

// charge returns an error if n new bytes are too many for one step or for the process.
func (s step) charge(n uint64) error {
	if n < 1<<16 { // bounded by the number of steps
		return nil
	}
	if n > maxValue {
		return s.tooBig(n)
	}
	if r := runOf(s.thread); r != nil {
		return r.charge(n)
	}
	return nil
}

// items bounds a step that iterates over v and takes each bytes per item.
func (s step) items(v starlark.Value, each uint64) error {
	limit := min(maxItems, maxValue/each)
	n := countItems(v, limit)
	if n > limit {
		return s.tooManyItems(v, n, limit)
	}
	return s.charge(n * each)
}

// extend bounds a step that appends the items of v to list.
func (s step) extend(list *starlark.List, v starlark.Value) error {
	if err := s.items(v, itemBytes); err != nil {
		return err
	}
	return s.charge(itemBytes * (uint64(list.Len()) + countItems(v, maxItems)))
}

// interpolate bounds format % y. Each %(name)s may print the same value of a dict again.
func (s step) interpolate(format string, y starlark.Value) error {
	values := []starlark.Value{y}
	if tuple, ok := y.(starlark.Tuple); ok {
		values = tuple
	}
	n, err := s.printed(values...)
	if err != nil {
		return err
	}
	if _, ok := y.(starlark.Mapping); ok {
		n = saturatingMul(n, uint64(strings.Count(format, "%")))
	}
	return s.charge(n + uint64(len(format)))
}

func saturatingMul(a, b uint64) uint64 {
	if a != 0 && b > (1<<62)/a {
		return 1 << 62
	}
	return a * b
}

// contentBytes returns the memory that a copy of x takes; 0 if x is not copied.
func contentBytes(x starlark.Value) uint64 {
	switch x := x.(type) {
	case starlark.String:
		return uint64(len(x))
	case starlark.Bytes:
		return uint64(len(x))
	case *starlark.List:
		return itemBytes * uint64(x.Len())
	case starlark.Tuple:
		return itemBytes * uint64(len(x))
	}
	return 0
}

// countItems returns how many items v yields, at most limit+1 unless v knows its length; 0 if v is
// not iterable.
func countItems(v starlark.Value, limit uint64) uint64 {
	it, ok := v.(starlark.Iterable)
	if !ok {
		return 0
	}
	if n := starlark.Len(v); n >= 0 {
		return uint64(n)
	}
	iter := it.Iterate()
	defer iter.Done()
	var n uint64
	for x := starlark.Value(nil); n <= limit && iter.Next(&x); {
		n++
	}
	return n
}

// printed returns the length of printed values, overestimated at most 4 times. It returns an error
// if that is too large.
func (s step) printed(values ...starlark.Value) (uint64, error) {
	var n uint64
	nodes := 0
	var path []starlark.Value // values being printed, to detect cycles
	visit := func(v starlark.Value, depth int) (enter bool, err error) {
		n += scalarSize(v)
		nodes++
		switch {
		case n > maxValue:
			return false, s.tooBig(n)
		case nodes > maxNodes:
			return false, sizeError("%s would print a value of more than %d parts", s.what, maxNodes)
		}
		path = append(path[:depth], v)
		switch v.(type) {
		case *starlark.List, *starlark.Dict:
			if slices.Contains(path[:depth], v) {
				return false, nil
			}
		case *starlark.Function, *starlark.Builtin:
			return false, nil // only the name is printed
		}
		if depth == maxDepth {
			return false, sizeError("%s would print a value that is nested too deep", s.what)
		}
		return true, nil
	}
	for _, v := range values {
		if text, ok := v.(starlark.String); ok {
			n += uint64(len(text)) // not quoted
		} else if err := walk(v, 0, visit); err != nil {
			return 0, err
		}
	}
	return n, nil
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

// CheckPrint returns a *LimitError if the text of values would be too long.
func CheckPrint(what string, values ...starlark.Value) error {
	s := step{what: what}
	n, err := s.printed(values...)
	if err == nil && n > maxValue {
		err = s.tooBig(n)
	}
	return err
}

// CheckCompare returns a *LimitError if values are too large for == or <, which compare them part
// by part to a depth of 10 and shared parts as often as they occur.
func CheckCompare(what string, values ...starlark.Value) error {
	for _, v := range values {
		switch v.(type) {
		case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set, *starlarkstruct.Struct:
		default:
			continue
		}
		nodes := 0
		if err := walk(v, 0, func(_ starlark.Value, depth int) (enter bool, err error) {
			if nodes++; nodes > maxNodes {
				return false, sizeError("%s would compare more than %d items in one step", what, maxNodes)
			}
			return depth < starlark.CompareLimit, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// checkGlobals returns an error for globals with too many levels or parts for Freeze.
func checkGlobals(file string, globals starlark.StringDict) error {
	visit := shapeLimit()
	for _, name := range globals.Keys() {
		if err := walk(globals[name], 0, visit); err != nil {
			limit := sizeError("the global %s %s", name, err)
			return &Error{File: file, Msg: limit.Msg, cause: limit}
		}
	}
	return nil
}

// shapeLimit returns a visitor that bounds levels and parts. It enters lists, dicts, sets and
// functions once, tuples and structs each time, as Freeze does.
func shapeLimit() visitor {
	nodes, seen := 0, map[starlark.Value]bool{}
	return func(v starlark.Value, depth int) (enter bool, err error) {
		if nodes++; nodes > maxNodes {
			return false, sizeError("has more than %d parts", maxNodes)
		}
		if depth == maxDepth {
			return false, sizeError("is nested deeper than %d levels", maxDepth)
		}
		switch v.(type) {
		case *starlark.List, *starlark.Dict, *starlark.Set, *starlark.Function:
			if seen[v] {
				return false, nil
			}
			seen[v] = true
		}
		return true, nil
	}
}

// A visitor of walk reports whether to enter a value.
type visitor = func(v starlark.Value, depth int) (enter bool, err error)

// walk visits v and the values inside it, until visit returns an error: a few lines of code can
// make 2^60 parts or a million levels.
func walk(v starlark.Value, depth int, visit visitor) error {
	enter, err := visit(v, depth)
	if enter && err == nil {
		parts(v, func(p starlark.Value) bool {
			err = walk(p, depth+1, visit)
			return err == nil
		})
	}
	return err
}

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
		for _, name := range v.AttrNames() {
			if x, err := v.Attr(name); err == nil && x != nil && !yield(x) {
				return
			}
		}
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
