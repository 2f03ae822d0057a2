package migrate

import (
	"cmp"
	"strings"
)

// piece is a part of a formatted text: a constant or a value.
type piece struct {
	literal string
	val     string // "" for a constant
	isText  bool   // the value is already a text
}

// format writes pieces as "…{}…".format(…), or shorter if possible.
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

// shown returns a value as Python's str() writes it, for format(), which writes plain types the
// same in both languages.
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
	case p.shows && (v.typ.class == aSpec || v.typ.class == anObject):
		return p.callOf(of(aStr), "str", v)
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

// knownText returns v, and notes a problem if its str() differs between Python versions.
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
		return primary("None", of(aProblem))
	}
	for _, v := range n.Values {
		if c := p.peek(cmp.Or(v.Value, v)).class; n.Single && v.Kind == "FormattedValue" && (c == unknown || c == aTuple || c == aDict) {
			return p.refuse(n, "percent")
		}
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
