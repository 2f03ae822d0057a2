package migrate

import (
	"slices"
	"strings"
)

// call ports a call.
func (p *porter) call(n *node) value {
	fn := n.node("func")
	if full := p.full(fn); full != "" {
		return p.importedCall(n, full)
	}
	if fn.is("Name") && p.local(fn.text("id")) == nil && p.globals[fn.text("id")] == nil {
		return p.builtinCall(n, fn.text("id"))
	}
	if fn.is("Attribute") {
		return p.methodCall(n, fn)
	}
	v := p.expr(fn)
	if v.typ.class == anEnum {
		return p.fail(n, "looking a member of an Enum up by value cannot be ported: write a dict")
	}
	t := typ{}
	if g := p.globals[fn.text("id")]; fn.is("Name") && g != nil && g.def != nil && p.local(fn.text("id")) == nil {
		if !p.unproved[g.def.text("name")] {
			t = p.annotated(g.def.node("returns"))
		}
		p.checkGiven(n, g.def)
	}
	return primary(join(v.at(precPrimary), p.arguments(n)), t)
}

// arguments ports what is in the parentheses of a call: Starlark wants *args and
// **kwargs last.
func (p *porter) arguments(n *node) *doc {
	var positional, named, last []*doc
	args := n.list("args")
	star := slices.IndexFunc(args, func(a *node) bool { return a.is("Starred") })
	for i, a := range args {
		if star >= 0 && i >= star {
			break
		}
		positional = append(positional, p.expr(a).doc)
	}
	if star >= 0 {
		rest := args[star:]
		if len(rest) == 1 {
			last = append(last, join(text("*"), p.iterable(rest[0].node("value")).at(precOr)))
		} else {
			last = append(last, join(text("*"), bracketed(p.spread(rest).doc)))
		}
	}
	for _, k := range n.list("keywords") {
		v := p.expr(k.node("value"))
		if name := k.text("arg"); name != "" {
			named = append(named, join(text(name+" = "), v.doc))
			continue
		}
		last = append(last, join(text("**"), v.at(precOr)))
	}
	return bracket("(", append(append(positional, named...), last...), ")")
}

// spread joins arguments of which some are starred.
func (p *porter) spread(args []*node) value {
	var chunks []*doc
	for _, a := range args {
		if a.is("Starred") {
			chunks = append(chunks, call("list", p, p.iterable(a.node("value")).doc))
		} else {
			chunks = append(chunks, bracket("[", []*doc{p.expr(a).doc}, "]"))
		}
	}
	return p.joinedChunks(args[0], chunks, nil)
}

// importedCall ports a call of something imported, by its full name.
func (p *porter) importedCall(n *node, full string) value {
	args := n.list("args")
	switch full {
	case "os.environ.get", "os.getenv":
		if len(args) < 1 || len(args) > 2 || len(n.list("keywords")) > 0 {
			break
		}
		t := of(aStr)
		var docs []*doc
		for i, a := range args {
			v := p.expr(a)
			docs = append(docs, v.doc)
			if i == 1 {
				t = t.join(v.typ)
			}
		}
		t.null = len(args) == 1 || t.null
		return primary(call("torchx.getenv", p, docs...), t)
	case "json.dumps":
		return primary(join(text(p.predeclared("torchx.py.dumps")), p.arguments(n)), of(aStr))
	case "shlex.split":
		if len(args) != 1 || len(n.list("keywords")) > 0 {
			return p.fail(n, "shlex.split takes only the text here")
		}
	case "math.log":
		if len(args) != 1 {
			return p.fail(n, "math.log takes one number here")
		}
	case "copy.copy", "copy.deepcopy":
		return p.copied(n, full)
	case "torchx.specs.RetryPolicy":
		if len(args) == 1 && len(n.list("keywords")) == 0 {
			return p.expr(args[0])
		}
	case "logging.getLogger":
		return p.fail(n, "a logger is used as a value")
	case "os.path.join":
		if len(n.list("keywords")) > 0 {
			return p.fail(n, "os.path.join takes no names")
		}
	case "typing.cast":
		if len(args) == 2 {
			return p.expr(args[1])
		}
	}
	v := p.imported(n.node("func"), full)
	p.checkNames(n, full)
	return primary(join(v.doc, p.arguments(n)), p.resultOf(n, full))
}

// checkNames finds arguments that a function of specs does not take here.
func (p *porter) checkNames(n *node, full string) {
	signature := p.known[strings.TrimPrefix(full, "torchx.")]
	if !strings.HasPrefix(full, "torchx.specs.") || strings.Contains(signature, "**") {
		return
	}
	for _, k := range n.list("keywords") {
		name := k.text("arg")
		if name != "" && !takes(signature, name) {
			p.fail(n, "%s takes no %s here", strings.TrimPrefix(full, "torchx."), name)
		}
	}
}

// takes reports whether a signature such as f(a, b = 1) has a parameter.
func takes(signature, name string) bool {
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	for _, part := range strings.Split(list, ",") {
		part, _, _ = strings.Cut(part, "=")
		if strings.TrimSpace(part) == name {
			return true
		}
	}
	return false
}

// resultOf is the type of what an imported function returns.
func (p *porter) resultOf(n *node, full string) typ {
	if to, ok := translations[full]; ok {
		full = to
	} else if rest, ok := strings.CutPrefix(full, "torchx."); ok {
		full = rest
	}
	if t, ok := results[full]; ok {
		return t
	}
	if full == "specs.replace" && len(n.list("args")) > 0 {
		return p.peek(n.list("args")[0])
	}
	switch name := strings.TrimPrefix(full, "specs."); name {
	case "AppDef", "Role", "Resource", "BindMount", "VolumeMount", "DeviceMount", "Workspace":
		return typ{class: aSpec, spec: name}
	}
	if strings.HasPrefix(full, "components.") {
		return typ{class: aSpec, spec: "AppDef"}
	}
	return typ{}
}

// copied ports copy.copy and copy.deepcopy.
func (p *porter) copied(n *node, full string) value {
	if len(n.list("args")) != 1 {
		return p.fail(n, "%s wants one value", full)
	}
	return p.copyOf(n, n.list("args")[0], full == "copy.deepcopy")
}

func (p *porter) copyOf(n, x *node, deep bool) value {
	v := p.expr(x)
	flat := v.typ.elem != nil && v.typ.elem.plain()
	switch {
	case v.typ.class == aSpec || v.typ.plain() || v.typ.class == aFloat:
		return v // such values never change
	case v.typ.class == aDict && (!deep || flat):
		return primary(call("dict", p, v.doc), v.typ)
	case v.typ.class == aList && (!deep || flat):
		return primary(call("list", p, v.doc), v.typ)
	case v.typ.class == aSet && !deep:
		return primary(call("set", p, v.doc), v.typ)
	}
	return p.fail(n, "what is copied here is not known: write dict(x) or list(x)")
}

// methodCall ports x.method(…).
func (p *porter) methodCall(n, fn *node) value {
	base, name := fn.node("value"), fn.text("attr")
	if format, ok := base.isString(); ok && name == "format" {
		return p.formatMethod(n, format)
	}
	v := p.expr(base)
	switch name {
	case "copy":
		if len(n.list("args"))+len(n.list("keywords")) == 0 {
			return p.copyOf(n, base, false)
		}
	case "join":
		if len(n.list("args")) == 1 && !n.list("args")[0].is("Starred") {
			return primary(join(v.at(precPrimary), text(".join"), bracket("(", []*doc{p.iterable(n.list("args")[0]).doc}, ")")), of(aStr))
		}
	case "splitlines":
		if s, ok := base.isString(); ok && !strings.ContainsAny(s, "\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029") {
			return primary(join(v.at(precPrimary), text(".splitlines"), p.arguments(n)), listOf(of(aStr)))
		}
	case "sort", "reverse":
		return p.fail(n, "lists have no %s in Starlark: write x = sorted(x) or x = reversed(x)", name)
	}
	t, ok := p.method(v.typ, name)
	if !ok {
		return p.fail(n, "the method .%s has no counterpart in Starlark%s", name, map[string]string{
			"format": " on a text that is not written out here", "zfill": ": write an f-string such as f\"{x:03d}\"", "encode": ": there are no bytes",
			"splitlines": ", for lines end at more characters in Python: write .split(\"\\n\")",
		}[name])
	}
	if _, ofText := methods[aStr][name]; ofText && len(n.list("keywords")) > 0 {
		return p.fail(n, ".%s takes no %s= in Starlark: give the value without its name", name, n.list("keywords")[0].text("arg"))
	}
	if v.typ.class == aDict && name == "get" {
		t = t.orNone()
		if args := n.list("args"); len(args) == 2 {
			t = v.typ.valueType().join(p.peek(args[1]))
		}
	}
	return primary(join(v.at(precPrimary), text("."+name), p.arguments(n)), t)
}

// method finds a method. Of an unknown value it may be that of any type, but must
// mean the same for all.
func (p *porter) method(t typ, name string) (typ, bool) {
	if t.class != unknown {
		result, ok := methods[t.class][name]
		switch {
		case t.class == aDict && (name == "get" || name == "pop" || name == "setdefault"):
			result = t.valueType()
		case t.class == aDict && name == "keys":
			result = typ{class: aList, elem: t.key}
		case t.class == aDict && name == "values":
			result = typ{class: aList, elem: t.elem}
		case t.class == aDict && name == "items":
			result = typ{class: aList, elem: &typ{class: aTuple, key: t.key, elem: t.elem, spec: "item"}}
		case t.class == aList && name == "pop":
			result = t.elemType()
		}
		return result, ok
	}
	for _, c := range []class{aStr, aList, aDict, aSet} {
		if _, ok := methods[c][name]; ok {
			if c == aStr {
				return methods[c][name], true
			}
			return typ{}, true
		}
	}
	return typ{}, false
}
