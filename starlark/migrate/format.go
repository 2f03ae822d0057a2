package migrate

import (
	"strconv"
	"strings"

	"torchx/runtime/lazyregexp"
)

// piece is a part of a text that is put together: a constant, or a value.
type piece struct {
	literal string
	val     *doc
	isText  bool // the value is a text already
}

// format writes pieces as "…{}…".format(…), or as less where that will do.
func (p *porter) format(pieces []piece, lines bool) value {
	if len(pieces) == 1 && pieces[0].isText {
		return primary(pieces[0].val, of(aStr))
	}
	var form, plain strings.Builder
	var args []*doc
	for _, x := range pieces {
		plain.WriteString(x.literal)
		if x.val == nil {
			form.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(x.literal))
			continue
		}
		form.WriteString("{}")
		args = append(args, x.val)
	}
	if len(args) == 0 {
		return primary(text(quote(plain.String(), lines)), of(aStr))
	}
	return primary(cat(quote(form.String(), lines)+".format", bracket("(", args, ")")), of(aStr))
}

// shown is a value as Python's str() writes it, for format(), which writes plain
// types alike in both languages.
func (p *porter) shown(v value) *doc {
	if v.typ.isPlain() {
		return v.doc
	}
	return p.call("torchx.py.str", v)
}

func (p *porter) repr(v value) value { return p.callOf(of(aStr), "torchx.py.repr", v) }

// str ports str(x).
func (p *porter) str(n node, v value) value {
	switch {
	case v.typ.class == aSpec:
		return p.fail(n, "the text of a %s is Python's own", v.typ.spec)
	case v.typ.hasOwnText():
		return p.fail(n, "the text of an Enum's member differs between versions of Python: write .value")
	case v.typ.isText():
		return v
	case v.typ.isPlain():
		return p.callOf(of(aStr), "str", v)
	}
	return p.callOf(of(aStr), "torchx.py.str", v)
}

// knownText returns v, and fails if str() of it differs between versions of Python.
func (p *porter) knownText(n node, v value) value {
	if v.typ.hasOwnText() {
		return p.str(n, v)
	}
	return v
}

// fstring ports f"…".
func (p *porter) fstring(n *pyJoinedStr) value {
	pieces, ok := p.fstringPieces(n)
	if !ok {
		return primary(text("None"), typ{})
	}
	return p.format(pieces, n.End > n.Line)
}

func (p *porter) fstringPieces(n *pyJoinedStr) ([]piece, bool) {
	var pieces []piece
	for _, part := range n.Values {
		if s, ok := constantOf(part, "str"); ok {
			pieces = append(pieces, piece{literal: s})
			continue
		}
		f, ok := part.(*pyFormattedValue)
		if !ok {
			p.fail(part, "%s in an f-string has no counterpart", part.at().Kind)
			return nil, false
		}
		x, ok := p.formatted(f)
		if !ok {
			return nil, false
		}
		pieces = append(pieces, x)
	}
	return pieces, true
}

// formatted ports {value!r:spec} of an f-string.
func (p *porter) formatted(n *pyFormattedValue) (piece, bool) {
	v := p.expr(n.Value)
	before := len(p.out.problems)
	switch n.Conversion {
	case 'r':
		v = p.repr(v)
	case 's':
		v = p.str(n, v)
	case 'a':
		p.fail(n, "!a in an f-string has no counterpart")
	}
	spec, _ := n.FormatSpec.(*pyJoinedStr)
	if spec == nil || len(spec.Values) == 0 {
		v = p.knownText(n, v)
		isText := v.prec == precPrimary && (!v.typ.isPlain() || v.typ.isText())
		return piece{val: p.shown(v), isText: isText}, len(p.out.problems) == before
	}
	pieces, ok := p.fstringPieces(spec)
	if !ok {
		return piece{}, false
	}
	v = p.knownText(n, v)
	return piece{val: p.call("torchx.py.format", v, p.format(pieces, false)), isText: true}, len(p.out.problems) == before
}

// conversionForm is one %… of Python's old formatting.
var conversionForm = lazyregexp.New(`%(\([^)]*\))?([-#0 +]*)(\*|[0-9]*)(\.(?:\*|[0-9]*))?([hlL]?)(.|\z)`)

// percent ports "…" % values.
func (p *porter) percent(n *pyBinOp, format string) value {
	args, isTuple := elements(n.Right, "Tuple")
	if !isTuple {
		args = []node{n.Right}
	}
	if kind := n.Right.at().Kind; kind == "Dict" || kind == "DictComp" {
		return p.fail(n, "%% with a dict cannot be ported: write an f-string")
	}
	var pieces []piece
	end, used := 0, 0
	matches := conversionForm().FindAllStringSubmatch(format, -1)
	for i, m := range conversionForm().FindAllStringIndex(format, -1) {
		c := matches[i]
		pieces = append(pieces, piece{literal: format[end:m[0]]})
		end = m[1]
		if c[0] == "%%" {
			pieces = append(pieces, piece{literal: "%"})
			continue
		}
		if c[1] != "" || c[3] == "*" || c[4] == ".*" || used >= len(args) || isStarred(args[used]) {
			return p.fail(n, "this %% formatting cannot be ported: write an f-string")
		}
		d, ok := p.conversion(n, args[used], c)
		if !ok {
			return primary(text("None"), typ{})
		}
		used++
		pieces = append(pieces, piece{val: d})
	}
	pieces = append(pieces, piece{literal: format[end:]})
	if used != len(args) {
		return p.fail(n, "%% formats %d values here, and there are %d", used, len(args))
	}
	// A single value might be a tuple, which Python would take apart.
	if !isTuple {
		if c := p.peek(n.Right).class; c == unknown || c == aTuple || c == aDict {
			return p.fail(n, "whether the value of %% is a tuple is not known: write an f-string, or a tuple of one")
		}
	}
	return p.format(pieces, n.Left.at().End > n.Left.at().Line)
}

// conversion ports one %… of a value; c are the groups of conversionForm.
func (p *porter) conversion(n *pyBinOp, arg node, c []string) (*doc, bool) {
	v := p.expr(arg)
	isBare := c[2]+c[3]+c[4] == ""
	switch letter := c[6]; letter {
	case "s", "r":
		if letter == "r" {
			v = p.repr(v)
		} else {
			v = p.str(n, v)
		}
		if isBare {
			return v.doc, true
		}
	case "d", "i", "u":
		c[6] = "d"
		if v.typ.class != anInt {
			p.fail(n, "%%d of what may be no int cannot be ported: write int(…)")
			return nil, false
		}
		if isBare {
			return v.doc, true
		}
	case "f", "F", "e", "E", "g", "G", "x", "X", "o":
	default:
		p.fail(n, "%%%s has no counterpart: write an f-string", letter)
		return nil, false
	}
	if strings.Contains(c[2], "#") {
		p.fail(n, "the flag # of %% has no counterpart: write an f-string")
		return nil, false
	}
	return p.call("torchx.py.format", v, quote(formatSpec(c[2], c[3], c[4], c[6]), false)), true
}

// formatSpec writes a %… as format() wants it, where text is aligned to the left.
func formatSpec(flags, width, precision, letter string) string {
	isText := letter == "s" || letter == "r"
	has := func(flag string) bool { return strings.Contains(flags, flag) }
	spec := ""
	switch {
	case has("-"):
		spec = "<"
	case width != "" && isText:
		spec = ">"
	}
	switch {
	case has("+"):
		spec += "+"
	case has(" "):
		spec += " "
	}
	if has("0") && !has("-") && !isText {
		spec += "0"
	}
	if precision == "." {
		precision = ".0"
	}
	if isText {
		letter = "s"
	}
	return spec + width + precision + letter
}

// formatMethod ports "…{}…".format(…).
func (p *porter) formatMethod(n *pyCall, form [][]string) value {
	given := map[string]value{}
	for i, a := range n.Args {
		if isStarred(a) {
			return p.fail(n, "format(*…) cannot be ported: write an f-string")
		}
		given[strconv.Itoa(i)] = p.expr(a)
	}
	for _, k := range n.Keywords {
		if k.Arg == "" {
			return p.fail(n, "format(**…) cannot be ported: write an f-string")
		}
		given[k.Arg] = p.expr(k.Value)
	}
	var pieces []piece
	next := 0
	for _, f := range form {
		pieces = append(pieces, piece{literal: f[0]})
		if len(f) == 1 {
			continue
		}
		name, spec, conversion := f[1], f[2], f[3]
		if strings.ContainsAny(name, "[.") || strings.Contains(spec, "{") || conversion == "a" {
			return p.fail(n, "this format() cannot be ported: write an f-string")
		}
		if name == "" {
			name = strconv.Itoa(next)
			next++
		}
		v, ok := given[name]
		if !ok {
			return p.fail(n, "format() has no value for {%s}", name)
		}
		switch conversion {
		case "r":
			v = p.repr(v)
		case "s":
			v = p.str(n, v)
		default:
			v = p.knownText(n, v)
		}
		d := p.shown(v)
		if spec != "" {
			d = p.call("torchx.py.format", v, quote(spec, false))
		}
		pieces = append(pieces, piece{val: d})
	}
	return p.format(pieces, n.Func.at().End > n.Func.at().Line)
}
