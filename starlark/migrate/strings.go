package migrate

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// constant ports a literal.
func (p *porter) constant(n *node) value {
	lit := n.text("text")
	switch n.text("type") {
	case "str":
		if n.flag("bad") {
			return p.fail(n, "the text has a half of a surrogate pair, which no Starlark string can have")
		}
		return primary(text(quote(lit, n.end > n.line)), of(aStr))
	case "int":
		return primary(text(lit), of(anInt))
	case "float":
		if strings.Trim(lit, "0123456789.e+-") != "" {
			return p.fail(n, "the number %s has no literal in Starlark: write float(\"%s\")", lit, lit)
		}
		return primary(text(lit), of(aFloat))
	case "bool":
		return primary(text(lit), of(aBool))
	case "NoneType":
		return primary(text(lit), of(aNone))
	}
	return p.fail(n, "a literal of type %s has no counterpart", n.text("type"))
}

// quote writes a string literal. One of several lines that was written in several
// lines stays so.
func quote(s string, lines bool) string {
	if lines && strings.Contains(s, "\n") && !strings.HasSuffix(s, `"`) {
		return `"""` + escape(s, true) + `"""`
	}
	return `"` + escape(s, false) + `"`
}

func escape(s string, lines bool) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '"' && !lines:
			b.WriteString(`\"`)
		case r == '\n' && !lines:
			b.WriteString(`\n`)
		case r == '\n' || r == '\t' && lines:
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80 && (r < ' ' || r == 0x7f):
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	if lines {
		return strings.ReplaceAll(b.String(), `"""`, `\"\"\"`)
	}
	return b.String()
}

// piece is a part of a text that is put together: a constant, or a value.
type piece struct {
	lit  string
	val  *doc
	text bool // the value is a text already
}

// format writes pieces as "…{}…".format(…), or as less where that will do.
func (p *porter) format(pieces []piece, lines bool) value {
	var form strings.Builder
	var args []*doc
	for _, x := range pieces {
		if x.val == nil {
			form.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(x.lit))
			continue
		}
		form.WriteString("{}")
		args = append(args, x.val)
	}
	if len(pieces) == 1 && pieces[0].text {
		return primary(pieces[0].val, of(aStr))
	}
	if len(args) == 0 {
		var plain strings.Builder
		for _, x := range pieces {
			plain.WriteString(x.lit)
		}
		return primary(text(quote(plain.String(), lines)), of(aStr))
	}
	return primary(join(text(quote(form.String(), lines)+".format"), bracket("(", args, ")")), of(aStr))
}

// shown is a value as Python's str() writes it, for format(), which writes plain
// types alike in both languages.
func (p *porter) shown(v value) *doc {
	if v.typ.plain() {
		return v.doc
	}
	return call("torchx.py.str", p, v.doc)
}

// str ports str(x).
func (p *porter) str(n *node, v value) value {
	switch {
	case v.typ.class == aSpec:
		return p.fail(n, "the text of a %s is Python's own", v.typ.spec)
	case v.typ.ownText():
		return p.fail(n, "the text of an Enum's member differs between versions of Python: write .value")
	case v.typ.class == aStr && !v.typ.null:
		return v
	case v.typ.plain():
		return primary(call("str", p, v.doc), of(aStr))
	}
	return primary(call("torchx.py.str", p, v.doc), of(aStr))
}

// fstring ports f"…".
func (p *porter) fstring(n *node) value {
	pieces, ok := p.fstringPieces(n)
	if !ok {
		return value{doc: text("None"), prec: precPrimary}
	}
	return p.format(pieces, n.end > n.line)
}

func (p *porter) fstringPieces(n *node) ([]piece, bool) {
	var pieces []piece
	for _, part := range n.list("values") {
		if s, ok := part.isString(); ok {
			pieces = append(pieces, piece{lit: s})
			continue
		}
		if !part.is("FormattedValue") {
			p.fail(part, "%s in an f-string has no counterpart", part.kind)
			return nil, false
		}
		d, isText, ok := p.formatted(part)
		if !ok {
			return nil, false
		}
		pieces = append(pieces, piece{val: d, text: isText})
	}
	return pieces, true
}

// formatted ports {value!r:spec} of an f-string, and says whether the result is a text.
func (p *porter) formatted(n *node) (d *doc, isText, ok bool) {
	v := p.expr(n.node("value"))
	before := len(p.problems)
	switch n.number("conversion") {
	case 'r':
		v = primary(call("torchx.py.repr", p, v.doc), of(aStr))
	case 's':
		v = p.str(n, v)
	case 'a':
		p.fail(n, "!a in an f-string has no counterpart")
	}
	spec := n.node("format_spec")
	if spec == nil || len(spec.list("values")) == 0 {
		if v.typ.ownText() {
			v = p.str(n, v)
		}
		isText = v.prec == precPrimary && (!v.typ.plain() || v.typ.class == aStr && !v.typ.null)
		return p.shown(v), isText, len(p.problems) == before
	}
	pieces, ok := p.fstringPieces(spec)
	if !ok {
		return nil, false, false
	}
	if v.typ.ownText() {
		v = p.str(n, v)
	}
	return call("torchx.py.format", p, v.doc, p.format(pieces, false).doc), true, len(p.problems) == before
}

// conversion is one %… of Python's old formatting.
var conversionForm = lazily(`%(\([^)]*\))?([-#0 +]*)(\*|[0-9]*)(?:\.(\*|[0-9]*))?([hlL]?)(.|\z)`)

// percent ports "…" % values.
func (p *porter) percent(n *node, format string) value {
	right := n.node("right")
	args := []*node{right}
	switch {
	case right.is("Tuple"):
		args = right.list("elts")
	case right.is("Dict", "DictComp"):
		return p.fail(n, "%% with a dict cannot be ported: write an f-string")
	}
	var pieces []piece
	end, used := 0, 0
	for _, m := range conversionForm().FindAllStringSubmatchIndex(format, -1) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return format[m[2*i]:m[2*i+1]]
		}
		pieces = append(pieces, piece{lit: format[end:m[0]]})
		end = m[1]
		if group(6) == "%" && m[1]-m[0] == 2 {
			pieces = append(pieces, piece{lit: "%"})
			continue
		}
		if group(1) != "" || group(3) == "*" || group(4) == "*" || used >= len(args) || args[used].is("Starred") {
			return p.fail(n, "this %% formatting cannot be ported: write an f-string")
		}
		d, ok := p.conversion(n, args[used], group(2), group(3), m[8] >= 0, group(4), group(6))
		if !ok {
			return value{doc: text("None"), prec: precPrimary}
		}
		used++
		pieces = append(pieces, piece{val: d})
	}
	pieces = append(pieces, piece{lit: format[end:]})
	if used != len(args) {
		return p.fail(n, "%% formats %d values here, and there are %d", used, len(args))
	}
	// A single value might be a tuple, which Python would take apart.
	if !right.is("Tuple") {
		if t := p.peek(right); t.class == unknown || t.class == aTuple || t.class == aDict {
			return p.fail(n, "whether the value of %% is a tuple is not known: write an f-string, or a tuple of one")
		}
	}
	return p.format(pieces, n.node("left").end > n.node("left").line)
}

// conversion ports one %… of a value.
func (p *porter) conversion(n, arg *node, flags, width string, dotted bool, precision, letter string) (*doc, bool) {
	v := p.expr(arg)
	bare := flags == "" && width == "" && !dotted
	switch letter {
	case "s", "r":
		if letter == "r" {
			v = primary(call("torchx.py.repr", p, v.doc), of(aStr))
		} else {
			v = p.str(n, v)
		}
		if bare {
			return v.doc, true
		}
	case "d", "i", "u":
		letter = "d"
		if v.typ.class != anInt {
			p.fail(n, "%%d of what may be no int cannot be ported: write int(…)")
			return nil, false
		}
		if bare {
			return v.doc, true
		}
	case "f", "F", "e", "E", "g", "G", "x", "X", "o":
	default:
		p.fail(n, "%%%s has no counterpart: write an f-string", letter)
		return nil, false
	}
	if strings.ContainsAny(flags, "#") {
		p.fail(n, "the flag # of %% has no counterpart: write an f-string")
		return nil, false
	}
	return call("torchx.py.format", p, v.doc, text(quote(newSpec(flags, width, dotted, precision, letter), false))), true
}

// newSpec writes a %… as format() wants it, where text is aligned to the left.
func newSpec(flags, width string, dotted bool, precision, letter string) string {
	spec := ""
	switch {
	case strings.Contains(flags, "-"):
		spec = "<"
	case width != "" && (letter == "s" || letter == "r"):
		spec = ">"
	}
	if strings.Contains(flags, "+") {
		spec += "+"
	} else if strings.Contains(flags, " ") {
		spec += " "
	}
	if strings.Contains(flags, "0") && !strings.Contains(flags, "-") && letter != "s" && letter != "r" {
		spec += "0"
	}
	spec += width
	if dotted {
		spec += "." + precisionOr0(precision)
	}
	if letter == "r" {
		letter = "s"
	}
	return spec + letter
}

func precisionOr0(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// formatMethod ports "…{}…".format(…).
func (p *porter) formatMethod(n *node, format string) value {
	var positional []value
	for _, a := range n.list("args") {
		if a.is("Starred") {
			return p.fail(n, "format(*…) cannot be ported: write an f-string")
		}
		positional = append(positional, p.expr(a))
	}
	named := map[string]value{}
	for _, k := range n.list("keywords") {
		if k.text("arg") == "" {
			return p.fail(n, "format(**…) cannot be ported: write an f-string")
		}
		named[k.text("arg")] = p.expr(k.node("value"))
	}
	fields, ok := parseFormat(format)
	if !ok {
		return p.fail(n, "this format() cannot be ported: write an f-string")
	}
	var pieces []piece
	next := 0
	for _, f := range fields {
		if !f.field {
			pieces = append(pieces, piece{lit: f.lit})
			continue
		}
		if f.name == "" {
			f.name = strconv.Itoa(next)
			next++
		}
		v, found := named[f.name]
		if i, err := strconv.Atoi(f.name); err == nil && i < len(positional) {
			v, found = positional[i], true
		}
		if !found {
			return p.fail(n, "format() has no value for {%s}", f.name)
		}
		switch {
		case f.conversion == "r":
			v = primary(call("torchx.py.repr", p, v.doc), of(aStr))
		case f.conversion == "s":
			v = p.str(n, v)
		case v.typ.ownText():
			v = p.str(n, v)
		}
		d := p.shown(v)
		if f.spec != "" {
			d = call("torchx.py.format", p, v.doc, text(quote(f.spec, false)))
		}
		pieces = append(pieces, piece{val: d})
	}
	return p.format(pieces, n.node("func").end > n.node("func").line)
}

type formatField struct {
	lit                    string
	field                  bool
	name, conversion, spec string
}

// parseFormat takes a format string apart; ok is false for what has attributes,
// indices or nested fields.
func parseFormat(s string) (fields []formatField, ok bool) {
	lit := ""
	for i := 0; i < len(s); i++ {
		switch {
		case (s[i] == '{' || s[i] == '}') && i+1 < len(s) && s[i+1] == s[i]:
			lit += string(s[i])
			i++
		case s[i] == '}':
			return nil, false
		case s[i] == '{':
			body, _, closed := strings.Cut(s[i+1:], "}")
			if !closed || strings.ContainsAny(body, "{[.") && !strings.Contains(body, ":") {
				return nil, false
			}
			i += len(body) + 1
			f := formatField{field: true}
			f.name, f.spec, _ = strings.Cut(body, ":")
			f.name, f.conversion, _ = strings.Cut(f.name, "!")
			if strings.ContainsAny(f.name, "[.") || strings.Contains(f.spec, "{") || f.conversion != "" && f.conversion != "r" && f.conversion != "s" {
				return nil, false
			}
			fields = append(fields, formatField{lit: lit}, f)
			lit = ""
		default:
			lit += string(s[i])
		}
	}
	return append(fields, formatField{lit: lit}), true
}

// power computes a ** b of constants: Starlark has no such operator.
func (p *porter) power(n *node) value {
	a, b := n.node("left"), n.node("right")
	if a.is("Constant") && b.is("Constant") && a.text("type") == "int" && b.text("type") == "int" {
		base, ok := new(big.Int).SetString(a.text("text"), 10)
		exp, err := strconv.Atoi(b.text("text"))
		if ok && err == nil && exp >= 0 && exp <= 1000 {
			return primary(text(base.Exp(base, big.NewInt(int64(exp)), nil).String()), of(anInt))
		}
	}
	return p.fail(n, "** has no counterpart: write the product, or math.pow(…) for floats")
}
