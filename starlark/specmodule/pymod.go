package specmodule

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
)

// pyModule is torchx.py: strings formatted like in Python, for components that were
// ported from it. Starlark's own str and repr quote and format floats differently.
func pyModule() starlark.Value {
	return module("torchx.py", map[string]function{
		"str": pyStr, "repr": pyRepr, "format": pyFormat, "dumps": pyDumps,
	}, nil)
}

// pyStr is torchx.py.str(x).
func pyStr(c call) (starlark.Value, error) {
	var x starlark.Value
	if err := c.unpack("x", &x); err != nil {
		return nil, err
	}
	if s, ok := x.(starlark.String); ok {
		return s, nil
	}
	return pyText(x)
}

// pyRepr is torchx.py.repr(x).
func pyRepr(c call) (starlark.Value, error) {
	var x starlark.Value
	if err := c.unpack("x", &x); err != nil {
		return nil, err
	}
	return pyText(x)
}

func pyText(x starlark.Value) (starlark.Value, error) {
	w := pyWriter{budget: maxParts}
	if err := w.value(x, 0); err != nil {
		return nil, err
	}
	return starlark.String(w.b.String()), nil
}

// pyWriter writes values like Python's repr.
type pyWriter struct {
	b      strings.Builder
	budget int
}

func (w *pyWriter) value(x starlark.Value, depth int) error {
	w.budget--
	switch {
	case depth > maxDepth:
		return fmt.Errorf("value is nested deeper than %d levels", maxDepth)
	case w.budget < 0 || w.b.Len() > maxText:
		return fmt.Errorf("the text is too long")
	}
	switch x := x.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int:
		w.b.WriteString(x.String())
	case starlark.Float:
		w.b.WriteString(pyFloat(float64(x)))
	case starlark.String:
		w.b.WriteString(pyQuote(string(x)))
	case *starlark.List:
		return w.items("[", x, "]", depth)
	case starlark.Tuple:
		if len(x) == 1 {
			return w.items("(", x, ",)", depth)
		}
		return w.items("(", x, ")", depth)
	case *starlark.Dict:
		return w.dict(x, depth)
	default:
		return fmt.Errorf("got %s, want %s", x.Type(), wantJSON)
	}
	return nil
}

func (w *pyWriter) items(open string, list starlark.Indexable, closing string, depth int) error {
	w.b.WriteString(open)
	for i := range list.Len() {
		if i > 0 {
			w.b.WriteString(", ")
		}
		if err := w.value(list.Index(i), depth+1); err != nil {
			return err
		}
	}
	w.b.WriteString(closing)
	return nil
}

func (w *pyWriter) dict(d *starlark.Dict, depth int) error {
	w.b.WriteString("{")
	for i, kv := range d.Items() {
		if i > 0 {
			w.b.WriteString(", ")
		}
		if err := w.value(kv[0], depth+1); err != nil {
			return err
		}
		w.b.WriteString(": ")
		if err := w.value(kv[1], depth+1); err != nil {
			return err
		}
	}
	w.b.WriteString("}")
	return nil
}

// pyFloat returns the shortest text that parses as f, with an exponent where Python has
// one: from 1e16, and below 1e-4.
func pyFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pyQuote quotes s with single quotes, unless s has single quotes and no double quotes.
func pyQuote(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}
