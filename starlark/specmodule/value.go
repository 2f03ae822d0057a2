package specmodule

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"

	"torchx/runtime/overlay"
	"torchx/runtime/spec"
)

// Limits of one call. Shared parts count each time they occur: lists that contain another list
// twice grow exponentially.
const (
	maxDepth  = 200       // levels of nesting
	maxValues = 200_000   // parts of metadata: each may cost half a KB
	maxParts  = 2_000_000 // parts of a value written as JSON
	maxText   = 64 << 20  // bytes of a string that a call returns
	maxParsed = 4 << 20   // bytes of a parsed text: its parts take up to 200 times the memory
)

// Errors for exceeded limits.
var (
	errTooDeep  = fmt.Errorf("value is nested deeper than %d levels", maxDepth)
	errTooLarge = fmt.Errorf("value is too large (more than %d parts or %d MiB)",
		maxParts, maxText>>20)
	errTooLong     = fmt.Errorf("the result is too long (more than %d MiB)", maxText>>20)
	errTextTooLong = fmt.Errorf("the text is too long (more than %d MiB)", maxParsed>>20)
)

// copier makes frozen deep copies of JSON-like values.
type copier struct{ budget int }

const wantJSON = "None, bool, int, float, string, list, tuple or dict"

func (c *copier) enter(at string, depth int) error {
	c.budget--
	switch {
	case depth > maxDepth:
		// The path is left out: it would be as long as the value is deep.
		return errTooDeep
	case c.budget < 0:
		return fmt.Errorf("%.60s: value has more than %d parts", at, maxValues)
	}
	return nil
}

func (c *copier) copy(at string, v starlark.Value, depth int) (starlark.Value, error) {
	if err := c.enter(at, depth); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.String:
		return v, nil
	case starlark.Int:
		if _, ok := v.Int64(); !ok {
			return nil, fmt.Errorf("%s: int is out of range (64 bits)", at)
		}
		return v, nil
	case starlark.Float:
		return checkNumber(at, v)
	case starlark.Tuple:
		items, err := c.items(at, v, depth)
		return starlark.Tuple(items), err
	case *starlark.List:
		items, err := c.items(at, v, depth)
		return frozen(starlark.NewList(items)), err
	case *starlark.Dict:
		return c.dict(at, v, depth)
	}
	return nil, wrongType(at, v, wantJSON)
}

func (c *copier) items(at string, v starlark.Indexable, depth int) ([]starlark.Value, error) {
	items := make([]starlark.Value, v.Len())
	for i := range items {
		item, err := c.copy(fmt.Sprintf("%s[%d]", at, i), v.Index(i), depth+1)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

func (c *copier) dict(at string, d *starlark.Dict, depth int) (starlark.Value, error) {
	return dictOf("dict", func(at string, v starlark.Value) (starlark.Value, error) {
		return c.copy(at, v, depth+1)
	})(at, d)
}

// toGo converts a copied value to nil, bool, int, float64, string, []any, spec.Tuple or
// map[string]any.
func toGo(v starlark.Value) any {
	switch v := v.(type) {
	case starlark.Bool:
		return bool(v)
	case starlark.String:
		return string(v)
	case starlark.Int:
		n, _ := v.Int64()
		return int(n)
	case starlark.Float:
		return float64(v)
	case starlark.Tuple:
		return spec.Tuple(toGoList(v))
	case *starlark.List:
		return toGoList(v)
	case *starlark.Dict:
		return toGoMap(v)
	}
	return nil
}

func toGoList(v starlark.Indexable) []any {
	list := make([]any, v.Len())
	for i := range list {
		list[i] = toGo(v.Index(i))
	}
	return list
}

func toGoMap(d *starlark.Dict) map[string]any {
	m := make(map[string]any, d.Len())
	for _, kv := range d.Items() {
		key := string(kv[0].(starlark.String))
		m[key] = toGo(kv[1])
		delete(m, overlay.Replaced(key)) // the map has no order to tell which key came later
	}
	return m
}

// fromGo is the inverse of toGo; keys of maps are sorted.
func fromGo(v any) starlark.Value {
	switch v := v.(type) {
	case bool:
		return starlark.Bool(v)
	case string:
		return starlark.String(v)
	case int:
		return starlark.MakeInt(v)
	case float64:
		return starlark.Float(v)
	case spec.Tuple:
		return starlark.Tuple(fromGoList(v))
	case []any:
		return starlark.NewList(fromGoList(v))
	case map[string]any:
		d := starlark.NewDict(len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			_ = d.SetKey(starlark.String(k), fromGo(v[k])) // cannot fail for a new dict and a string
		}
		return d
	}
	return starlark.None
}

func fromGoList(l []any) []starlark.Value {
	items := make([]starlark.Value, len(l))
	for i, v := range l {
		items[i] = fromGo(v)
	}
	return items
}
