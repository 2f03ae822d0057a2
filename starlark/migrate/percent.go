package migrate

import (
	"strconv"
	"strings"

	"torchx/runtime/lazyregexp"
)

// conversionForm matches a conversion such as %-5.2f.
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
		case c[1] != "" || c[3] == "*" || c[4] == ".*" || used >= len(args) ||
			isStarred(args[used]):
			return p.fail(n, "this %% formatting cannot be ported: write an f-string")
		case strings.Contains(c[2], "#") || !strings.Contains("srdiufFeEgGxXo", c[6]):
			return p.fail(n, "%s has no counterpart: write an f-string", c[0])
		case strings.Contains("diu", c[6]) && p.shows:
			c = []string{c[0], "", "", "", "", "", "s"} // any text will do
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
	// A single value might be a tuple, which Python would unpack.
	if c := p.peek(n.Right).class; !isTuple && (c == unknown || c == aTuple || c == aDict) {
		return p.fail(n, "the value of %% may be a tuple: write an f-string, or a tuple of one value")
	}
	return v
}

func textNode(s string) *node { return &node{Kind: "Constant", Type: "str", Text: s} }

// field returns {value!conversion:spec} of an f-string.
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

// conversion returns a %… conversion of a value as a part of an f-string; c are the groups of
// conversionForm.
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

// formatSpec translates a %… conversion into a format() spec, which aligns text to the left.
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
		if v == nil || strings.ContainsAny(name, "[.") ||
			strings.Contains(spec, "{") || conversion == "a" {
			return p.refuse(n, "format")
		}
		text.Values = append(text.Values, field(v, conversion, spec))
	}
	return p.fstring(text)
}
