package specmodule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"go.starlark.net/starlark"
)

// pyDumps is torchx.py.dumps(obj, indent = None, sort_keys = False, separators = None,
// ensure_ascii = True), which returns the same text as Python's json.dumps.
func pyDumps(c call) (starlark.Value, error) {
	var x starlark.Value
	var indent, separators starlark.Value = starlark.None, starlark.None
	d := dumper{ascii: true, budget: maxParts, item: ", ", colon: ": "}
	if err := c.unpack("obj", &x, "indent?", &indent,
		"sort_keys?", &d.sort, "separators?", &separators, "ensure_ascii?", &d.ascii); err != nil {
		return nil, err
	}
	err := d.options(indent, separators)
	if err == nil {
		err = d.value(x, 0)
	}
	return starlark.String(d.b.String()), err
}

type dumper struct {
	b           strings.Builder
	budget      int
	sort, ascii bool
	lines       bool   // indent is set
	step        string // the indentation of one level
	item, colon string
}

func (d *dumper) options(indent, separators starlark.Value) error {
	switch v := indent.(type) {
	case starlark.NoneType:
	case starlark.Int:
		n, err := starlark.AsInt32(v)
		if err != nil || n < 0 || n > 100 {
			return errors.New("indent: want 0 to 100")
		}
		d.lines, d.step = true, strings.Repeat(" ", n)
	case starlark.String:
		d.lines, d.step = true, string(v)
	default:
		return wrongType("indent", indent, "int, string or None")
	}
	if d.lines {
		d.item = ","
	}
	if separators == starlark.None {
		return nil
	}
	both, err := goStrings("separators", separators)
	if err != nil || len(both) != 2 {
		return errors.New("separators: want two strings")
	}
	d.item, d.colon = both[0], both[1]
	return nil
}

func (d *dumper) value(x starlark.Value, depth int) error {
	d.budget--
	if depth > maxDepth || d.budget < 0 || d.b.Len() > maxText {
		return errors.New("the value is too large")
	}
	switch x := x.(type) {
	case starlark.NoneType:
		d.b.WriteString("null")
	case starlark.Bool:
		d.b.WriteString(strings.ToLower(x.String()))
	case starlark.Int:
		d.b.WriteString(x.String())
	case starlark.Float:
		d.b.WriteString(jsonFloat(float64(x)))
	case starlark.String:
		d.quote(string(x))
	case *starlark.List, starlark.Tuple:
		list := x.(starlark.Indexable)
		return d.group("[", "]", depth, list.Len(), func(i int) error { return d.value(list.Index(i), depth+1) })
	case *starlark.Dict:
		return d.dict(x, depth)
	default:
		return fmt.Errorf("got %s, want %s", x.Type(), wantJSON)
	}
	return nil
}

// jsonFloat writes infinities and NaN, which JSON does not have, like Python does.
func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return pyFloat(f)
}

func (d *dumper) group(open, closing string, depth, n int, item func(int) error) error {
	d.b.WriteString(open)
	for i := range n {
		if i > 0 {
			d.b.WriteString(d.item)
		}
		d.newline(depth + 1)
		if err := item(i); err != nil {
			return err
		}
	}
	if n > 0 {
		d.newline(depth)
	}
	d.b.WriteString(closing)
	return nil
}

func (d *dumper) newline(depth int) {
	if d.lines {
		d.b.WriteString("\n" + strings.Repeat(d.step, depth))
	}
}

func (d *dumper) dict(x *starlark.Dict, depth int) error {
	items := x.Items()
	keys := make([]string, len(items))
	for i, kv := range items {
		switch k := kv[0].(type) {
		case starlark.String:
			keys[i] = string(k)
		case starlark.NoneType:
			keys[i] = "null"
		case starlark.Bool:
			keys[i] = strings.ToLower(k.String())
		case starlark.Int:
			keys[i] = k.String()
		case starlark.Float:
			keys[i] = jsonFloat(float64(k))
		default:
			return fmt.Errorf("got %s key, want string, int, float, bool or None", k.Type())
		}
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	if d.sort {
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	}
	return d.group("{", "}", depth, len(items), func(i int) error {
		d.quote(keys[order[i]])
		d.b.WriteString(d.colon)
		return d.value(items[order[i]][1], depth+1)
	})
}

func (d *dumper) quote(s string) {
	d.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			d.b.WriteString(`\` + string(r))
		case strings.ContainsRune("\n\r\t\b\f", r):
			d.b.WriteString(map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}[r])
		case r < ' ' || d.ascii && r > '~' && r < 0x10000:
			fmt.Fprintf(&d.b, `\u%04x`, r)
		case d.ascii && r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&d.b, `\u%04x\u%04x`, high, low)
		default:
			d.b.WriteRune(r)
		}
	}
	d.b.WriteByte('"')
}
