package interp

import (
	"strings"

	"go.starlark.net/starlark"
)

// maxShow bounds the text of Show, in bytes.
const maxShow = 200

// Show returns a value as Starlark code for a message, shortened to maxShow. Unlike str(), it is
// fast for a value that contains other values many times.
func Show(v starlark.Value) string {
	var b strings.Builder
	show(&b, v)
	if b.Len() > maxShow {
		return strings.ToValidUTF8(b.String()[:maxShow], "") + "…"
	}
	return b.String()
}

func show(b *strings.Builder, v starlark.Value) {
	switch v := v.(type) {
	case starlark.String:
		b.WriteString(v[:min(len(v), maxShow)].String())
	case starlark.Bytes:
		b.WriteString(v[:min(len(v), maxShow)].String())
	case starlark.Int:
		if v.BigInt().BitLen() > 3*maxShow {
			b.WriteString("an int of many digits")
			return
		}
		b.WriteString(v.String())
	case *starlark.List, starlark.Tuple:
		showList(b, v.(starlark.Indexable))
	case *starlark.Dict:
		showDict(b, v)
	case starlark.NoneType, starlark.Bool, starlark.Float, starlark.Callable:
		b.WriteString(v.String())
	default:
		b.WriteString("a " + v.Type())
	}
}

func showList(b *strings.Builder, v starlark.Indexable) {
	brackets := "[]"
	if _, ok := v.(starlark.Tuple); ok {
		brackets = "()"
	}
	b.WriteByte(brackets[0])
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > maxShow {
			return
		}
		show(b, v.Index(i))
	}
	if brackets == "()" && v.Len() == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(brackets[1])
}

func showDict(b *strings.Builder, v *starlark.Dict) {
	b.WriteByte('{')
	first := true
	for key, value := range v.Entries() {
		if !first {
			b.WriteString(", ")
		}
		if first = false; b.Len() > maxShow {
			return
		}
		show(b, key)
		b.WriteString(": ")
		show(b, value)
	}
	b.WriteByte('}')
}
