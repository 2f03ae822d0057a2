package migrate

import (
	"fmt"
	"strings"
	"unicode"
)

// constant ports a literal.
func (p *porter) constant(n *pyConstant) value {
	switch n.Type {
	case "str":
		if n.Bad {
			return p.fail(n, "the text has a half of a surrogate pair, which no Starlark string can have")
		}
		return primary(text(quote(n.Text, n.End > n.Line)), of(aStr))
	case "float":
		if strings.Trim(n.Text, "0123456789.e+-") != "" {
			return p.fail(n, "the number %s has no literal in Starlark: write float(\"%s\")", n.Text, n.Text)
		}
		return primary(text(n.Text), of(aFloat))
	case "int", "bool":
		return primary(text(n.Text), of(class(n.Type)))
	case "NoneType":
		return primary(text(n.Text), of(aNone))
	}
	return p.fail(n, "a literal of type %s has no counterpart", n.Type)
}

// quote writes a string literal. One of several lines that was written in several
// lines stays so.
func quote(s string, lines bool) string {
	if lines && strings.Contains(s, "\n") && !strings.HasSuffix(s, `"`) {
		return `"""` + strings.ReplaceAll(escape(s, "\"\n\t"), `"""`, `\"\"\"`) + `"""`
	}
	return `"` + escape(s, "") + `"`
}

// escapes are the characters that have an escape of their own.
var escapes = map[rune]string{'\\': `\\`, '"': `\"`, '\n': `\n`, '\t': `\t`, '\r': `\r`}

// escape writes the inside of a string literal in which some characters stay as they are.
func escape(s, plain string) string {
	var b strings.Builder
	for _, r := range s {
		switch e, ok := escapes[r]; {
		case ok && !strings.ContainsRune(plain, r):
			b.WriteString(e)
		case ok:
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
