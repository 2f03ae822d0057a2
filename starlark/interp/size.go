package interp

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"torchx/runtime/humanize"
)

// Limits of one step of the engine. They keep steps short; the description of a job takes kilobytes.
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

func tooBig(what string, n uint64) *LimitError {
	return &LimitError{Limit: "size", Msg: fmt.Sprintf(
		"%s would make a value of %s, over the limit of %s", what, humanize.RoundBytes(n), humanize.RoundBytes(maxValue))}
}

func tooManyItems(what string, v starlark.Value, n, most uint64) *LimitError {
	count := fmt.Sprint(n)
	if starlark.Len(v) < 0 {
		count = "more than " + fmt.Sprint(most)
	}
	return &LimitError{Limit: "size", Msg: fmt.Sprintf(
		"%s would walk a %s of %s items in one step, over the limit of %d", what, v.Type(), count, most)}
}

// charge returns an error if n new bytes are too many for one step or for the process.
func charge(t *starlark.Thread, what string, n uint64) error {
	if n < 1<<16 { // bounded by the number of steps
		return nil
	}
	if n > maxValue {
		return tooBig(what, n)
	}
	if r := runOf(t); r != nil {
		return r.charge(n)
	}
	return nil
}

func checkBits(what string, n int) error {
	if n > maxIntBits {
		return &LimitError{Limit: "size", Msg: fmt.Sprintf(
			"%s would make a number of more than %d bits", what, maxIntBits)}
	}
	return nil
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

// countItems returns how many items v yields, at most limit+1; 0 if v is not iterable.
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

// checkItems bounds a step that iterates over v and takes each bytes per item.
func checkItems(t *starlark.Thread, what string, v starlark.Value, each uint64) error {
	limit := uint64(maxItems)
	if each > itemBytes {
		limit = maxValue / each
	}
	n := countItems(v, limit)
	if n > limit {
		return tooManyItems(what, v, n, limit)
	}
	return charge(t, what, n*each)
}

func checkExtend(t *starlark.Thread, what string, list *starlark.List, v starlark.Value) error {
	if err := checkItems(t, what, v, itemBytes); err != nil {
		return err
	}
	return charge(t, what, itemBytes*(uint64(list.Len())+countItems(v, maxItems)))
}

// A walker counts the parts of a value: a few lines of code can make 2^60 parts or a million levels.
type walker struct {
	left int // parts that may still be visited
	deep int // levels that may still be entered
	seen map[starlark.Value]bool
}

// checkComparable bounds ==, < and in, which compare values part by part to a depth of 10.
func checkComparable(what string, v starlark.Value) error {
	switch v.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set, *starlarkstruct.Struct:
	default:
		return nil
	}
	w := walker{left: maxNodes}
	if !w.visitShallow(v, starlark.CompareLimit) {
		return &LimitError{Limit: "size", Msg: fmt.Sprintf("%s would compare more than %d items in one step", what, maxNodes)}
	}
	return nil
}

// visitShallow visits v to the given depth, and shared parts as often as they occur.
func (w *walker) visitShallow(v starlark.Value, depth int) bool {
	if w.left--; w.left < 0 {
		return false
	}
	if depth == 0 {
		return true
	}
	ok := true
	parts(v, func(p starlark.Value) bool {
		ok = w.visitShallow(p, depth-1)
		return ok
	})
	return ok
}

// checkShape returns an error for a value with too many levels or parts for Freeze or for Go code.
func checkShape(v starlark.Value) error {
	w := walker{left: maxNodes, deep: maxDepth, seen: map[starlark.Value]bool{}}
	return w.visit(v)
}

func checkGlobals(file string, globals starlark.StringDict) error {
	w := walker{left: maxNodes, deep: maxDepth, seen: map[starlark.Value]bool{}}
	for _, name := range globals.Keys() {
		if err := w.visit(globals[name]); err != nil {
			limit := &LimitError{Limit: "size", Msg: fmt.Sprintf("the global %s %s", name, err)}
			return &Error{File: file, Msg: limit.Msg, cause: limit}
		}
	}
	return nil
}

// visit enters lists, dicts, sets and functions once, tuples and structs each time, as Freeze does.
func (w *walker) visit(v starlark.Value) error {
	if w.left--; w.left < 0 {
		return &LimitError{Limit: "size", Msg: fmt.Sprintf("has more than %d parts", maxNodes)}
	}
	if w.deep == 0 {
		return &LimitError{Limit: "size", Msg: fmt.Sprintf("is nested deeper than %d levels", maxDepth)}
	}
	switch v.(type) {
	case *starlark.List, *starlark.Dict, *starlark.Set, *starlark.Function:
		if w.seen[v] {
			return nil
		}
		w.seen[v] = true
	}
	w.deep--
	defer func() { w.deep++ }()
	var err error
	parts(v, func(p starlark.Value) bool {
		err = w.visit(p)
		return err == nil
	})
	return err
}
