package migrate

import (
	"strconv"
	"strings"

	"torchx/runtime/lazyregexp"
)

// piece is a part of a text that is put together: a constant, or a value.
type piece struct {
	literal string
	val     string // "" for a constant
	isText  bool   // the value is a text already
}

// format writes pieces as "…{}…".format(…), or as less where that will do.
func (p *porter) format(pieces []piece, lines bool) value {
	if len(pieces) == 1 && pieces[0].isText {
		return primary(pieces[0].val, of(aStr))
	}
	var form, plain strings.Builder
	var args []string
	for _, x := range pieces {
		plain.WriteString(x.literal)
		if x.val == "" {
			form.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(x.literal))
			continue
		}
		form.WriteString("{}")
		args = append(args, x.val)
	}
	if len(args) == 0 {
		return primary(quote(plain.String(), lines), of(aStr))
	}
	return primary(quote(form.String(), lines)+".format"+bracket("(", args, ")", false), of(aStr))
}

// shown is a value as Python's str() writes it, for format(), which writes plain
// types alike in both languages.
func (p *porter) shown(v value) string {
	if v.typ.isPlain() || v.typ.isText() {
		return v.text
	}
	return p.call("torchx.py.str", v)
}

func (p *porter) repr(v value) value { return p.callOf(of(aStr), "torchx.py.repr", v) }

// str ports str(x).
func (p *porter) str(n *node, v value) value {
	c := p.classOf(v.typ)
	switch {
	case v.typ.class == aWrapped:
		return v.with(of(aStr), "."+v.typ.spec)
	case v.typ.class == anObject && c != nil && c.methods["__str__"] != nil:
		return primary("_"+c.name+"___str__("+v.text+")", of(aStr))
	case v.typ.class == aSpec && strings.HasPrefix(v.typ.spec, "Structured"):
		return v.with(of(aStr), ".text")
	case v.typ.class == anObject, v.typ.class == aSpec:
		return p.fail(n, "the text of a %s cannot be reproduced", v.typ.spec)
	case v.typ.class == aMember, v.typ.class == aClass, v.typ.loose && v.typ.spec != "":
		return p.refuse(n, "enum text")
	case v.typ.isText():
		v.typ = of(aStr)
		return v
	case v.typ.isPlain():
		return p.callOf(of(aStr), "str", v)
	}
	return p.callOf(of(aStr), "torchx.py.str", v)
}

// knownText returns v, and fails if str() of it differs between versions of Python.
func (p *porter) knownText(n *node, v value) value {
	switch {
	case v.typ.class == aMember, v.typ.class == aClass, v.typ.class == aSpec, v.typ.class == aWrapped, v.typ.class == anObject, v.typ.loose && v.typ.spec != "":
		return p.str(n, v)
	}
	return v
}

// fstring ports f"…".
func (p *porter) fstring(n *node) value {
	pieces, ok := p.fstringPieces(n)
	if !ok {
		return primary("None", typ{})
	}
	return p.format(pieces, n.End > n.Line)
}

func (p *porter) fstringPieces(n *node) ([]piece, bool) {
	var pieces []piece
	for _, part := range n.Values {
		if s, ok := constantOf(part, "str"); ok {
			pieces = append(pieces, piece{literal: s})
			continue
		}
		if part.Kind != "FormattedValue" {
			p.fail(part, "%s in an f-string has no counterpart", part.Kind)
			return nil, false
		}
		x, ok := p.formatted(part)
		if !ok {
			return nil, false
		}
		pieces = append(pieces, x)
	}
	return pieces, true
}

// formatted ports {value!r:spec} of an f-string.
func (p *porter) formatted(n *node) (piece, bool) {
	v := p.expr(n.Value)
	before := len(p.out.problems)
	switch n.Conversion {
	case 'r':
		v = p.repr(v)
	case 's':
		if !v.typ.isPlain() || n.FormatSpec != nil {
			v = p.str(n, v)
		}
	case 'a':
		p.fail(n, "!a in an f-string has no counterpart")
	}
	spec := n.FormatSpec
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

// percent ports "…" % values as an f-string.
func (p *porter) percent(n *node, format string) value {
	args, isTuple := []*node{n.Right}, is(n.Right, "Tuple")
	if isTuple {
		args = n.Right.Elts
	}
	if is(n.Right, "Dict", "DictComp") {
		return p.refuse(n, "percent dict")
	}
	text := &node{Kind: "JoinedStr", Line: n.Left.Line, End: n.Left.End}
	end, used := 0, 0
	matches := conversionForm().FindAllStringSubmatch(format, -1)
	for i, m := range conversionForm().FindAllStringIndex(format, -1) {
		c := matches[i]
		text.Values = append(text.Values, textNode(format[end:m[0]]))
		end = m[1]
		switch {
		case c[0] == "%%":
			text.Values = append(text.Values, textNode("%"))
			continue
		case c[1] != "" || c[3] == "*" || c[4] == ".*" || used >= len(args) || isStarred(args[used]):
			return p.fail(n, "this %% formatting cannot be ported: write an f-string")
		case strings.Contains(c[2], "#") || !strings.Contains("srdiufFeEgGxXo", c[6]):
			return p.fail(n, "%s has no counterpart: write an f-string", c[0])
		case strings.Contains("diu", c[6]) && p.peek(args[used]).class != anInt:
			return p.fail(n, "%%d of a value that may not be an int cannot be ported: write int(…)")
		}
		text.Values = append(text.Values, conversion(args[used], c))
		used++
	}
	text.Values = append(text.Values, textNode(format[end:]))
	if used != len(args) {
		return p.fail(n, "%% formats %d values but gets %d", used, len(args))
	}
	v := p.fstring(text)
	// A single value might be a tuple, which Python would take apart.
	if c := p.peek(n.Right).class; !isTuple && (c == unknown || c == aTuple || c == aDict) {
		return p.fail(n, "the value of %% may be a tuple: write an f-string, or a tuple of one value")
	}
	return v
}

func textNode(s string) *node { return &node{Kind: "Constant", Type: "str", Text: s} }

// field is {value!conversion:spec} of an f-string.
func field(n *node, conversion, spec string) *node {
	f := &node{Kind: "FormattedValue", Line: n.Line, End: n.End, Value: n}
	if conversion != "" {
		f.Conversion = int(conversion[0])
	}
	if spec != "" {
		f.FormatSpec = &node{Kind: "JoinedStr", Line: n.Line, End: n.Line, Values: []*node{textNode(spec)}}
	}
	return f
}

// conversion is one %… of a value as a part of an f-string; c are the groups of conversionForm.
func conversion(arg *node, c []string) *node {
	letter := strings.NewReplacer("i", "d", "u", "d").Replace(c[6])
	isBare := c[2]+c[3]+c[4] == ""
	switch {
	case letter == "s" || letter == "r":
		if isBare {
			return field(arg, letter, "")
		}
		return field(arg, letter, formatSpec(c[2], c[3], c[4], letter))
	case letter == "d" && isBare:
		return field(arg, "", "")
	}
	return field(arg, "", formatSpec(c[2], c[3], c[4], letter))
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

// formatMethod ports "…{}…".format(…) as an f-string.
func (p *porter) formatMethod(n *node, form [][]string) value {
	given := map[string]*node{}
	for i, a := range n.Args {
		given[strconv.Itoa(i)] = a
		if isStarred(a) {
			return p.refuse(n, "format")
		}
	}
	for _, k := range n.Keywords {
		given[k.Arg] = k.Value
	}
	text := &node{Kind: "JoinedStr", Line: n.Func.Line, End: n.Func.End}
	next := 0
	for _, f := range form {
		text.Values = append(text.Values, textNode(f[0]))
		if len(f) == 1 {
			continue
		}
		name, spec, conversion := f[1], f[2], f[3]
		if name == "" {
			name = strconv.Itoa(next)
			next++
		}
		v := given[name]
		if v == nil || strings.ContainsAny(name, "[.") || strings.Contains(spec, "{") || conversion == "a" {
			return p.refuse(n, "format")
		}
		text.Values = append(text.Values, field(v, conversion, spec))
	}
	return p.fstring(text)
}
