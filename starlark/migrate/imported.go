package migrate

import (
	"slices"
	"strings"
)

// importedCall ports a call of an imported function by its full name.
func (p *porter) importedCall(n *node, full string) value {
	args, hasNames := n.Args, len(n.Keywords) > 0
	t := functions()[full].typ
	switch full {
	case "os.environ.get", "os.getenv":
		if !hasNames && (len(args) == 1 || len(args) == 2) {
			return p.getenv(args)
		}
	case "shlex.split", "math.log":
		if len(args) != 1 || hasNames {
			return p.fail(n, "%s can be ported only with one argument", full)
		}
	case "copy.copy", "copy.deepcopy":
		if len(args) != 1 {
			return p.fail(n, "%s needs one argument", full)
		}
		return p.copyOf(n, args[0], full == "copy.deepcopy")
	case "torchx.specs.RetryPolicy":
		if isSole(n) {
			return p.expr(args[0])
		}
	case "os.path.realpath":
		p.noteLinks(n)
	case "dataclasses.asdict":
		if isSole(n) {
			return p.fieldsOf(n, p.expr(args[0]))
		}
	case "dataclasses.replace", "torchx.specs.replace":
		if len(args) > 0 {
			t = p.peek(args[0])
		}
		if c := p.classOf(t); c != nil && t.class == anObject && full == "dataclasses.replace" {
			return p.replaced(n, args[0], c)
		}
	case "os.path.join":
		for _, a := range args {
			if p.peek(a).class == aPath {
				t = of(aStr)
			}
		}
	}
	if name, ok := strings.CutPrefix(full, "torchx.specs.named_resources_aws.aws_"); ok && len(args) == 0 {
		return p.callOf(specOf("Resource"), "specs.get_named_resources", quote("aws_"+strings.Replace(name, "_", ".", 1), false))
	}
	v := p.imported(n.Func, full)
	p.checkNames(n, full)
	if full == "torchx.components.dist._noquote" {
		t = typ{class: aWrapped, spec: "noquote"}
	}
	return primary(v.text+p.arguments(n), t)
}

// noteLinks says what path.abspath does not do.
func (p *porter) noteLinks(n *node) {
	p.note(n.Line, "a path: links are not followed, as by %s", n.Func.Attr)
}

// fieldsOf ports asdict(x) of an object of the file.
func (p *porter) fieldsOf(n *node, v value) value {
	c := p.classOf(v.typ)
	if c == nil || v.typ.class != anObject || len(c.fields) == 0 {
		return p.fail(n, "asdict can be ported only for an object of a dataclass of this file")
	}
	var entries []string
	for _, f := range c.fields {
		part := v.with(p.annotated(f.Annotation), "."+f.Arg)
		if part.typ.class == anObject {
			part = p.fieldsOf(n, part)
		}
		entries = append(entries, quote(f.Arg, false)+": "+part.text)
	}
	return primary(bracket("{", entries, "}", false), dictOf(of(aStr), typ{}))
}

// replaced ports replace(x, field=…) of an object of the file.
func (p *porter) replaced(n, x *node, c *classInfo) value {
	v := p.expr(x)
	var args []string
	for _, f := range c.fields {
		text := v.text + "." + f.Arg
		if given := n.keyword(f.Arg); given != nil {
			text = p.expr(given).text
		}
		args = append(args, f.Arg+" = "+text)
	}
	return primary("_new_"+c.name+bracket("(", args, ")", false), c.instance())
}

// getenv ports os.environ.get(name) and os.environ.get(name, default).
func (p *porter) getenv(args []*node) value {
	name := p.expr(args[0])
	if len(args) == 1 {
		return p.callOf(of(aStr).orNone(), "torchx.getenv", name)
	}
	v := p.expr(args[1])
	return p.callOf(of(aStr).join(v.typ), "torchx.getenv", name, v)
}

// checkNames refuses arguments that a function of specs does not have.
func (p *porter) checkNames(n *node, full string) {
	name, ok := strings.CutPrefix(full, "torchx.specs.")
	signature := p.known["specs."+name]
	if !ok || strings.Contains(signature, "**") {
		return
	}
	for _, k := range n.Keywords {
		if k.Arg != "" && !takes(signature, k.Arg) {
			p.fail(n, "specs.%s has no argument %s", name, k.Arg)
		}
	}
}

// takes reports whether a signature such as f(a, b = 1) has a parameter.
func takes(signature, name string) bool {
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	return slices.ContainsFunc(strings.Split(list, ","), func(part string) bool {
		part, _, _ = strings.Cut(part, "=")
		return strings.TrimSpace(part) == name
	})
}
