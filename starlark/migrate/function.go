package migrate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// param is a parameter of a Python function.
type param struct {
	name       string
	annotation *node
	def        *node  // nil if required
	star       string // "", "*" or "**"
	keyword    bool
	node       *node
}

func parameters(def *node) []param {
	args := def.node("args")
	var out []param
	positional := append(append([]*node{}, args.list("posonlyargs")...), args.list("args")...)
	defaults := args.list("defaults")
	for i, a := range positional {
		x := param{name: a.text("arg"), annotation: a.node("annotation"), node: a}
		if at := i - (len(positional) - len(defaults)); at >= 0 {
			x.def = defaults[at]
		}
		out = append(out, x)
	}
	if v := args.node("vararg"); v != nil {
		out = append(out, param{name: v.text("arg"), annotation: v.node("annotation"), star: "*", node: v})
	}
	kwdefaults := args.list("kw_defaults")
	for i, a := range args.list("kwonlyargs") {
		x := param{name: a.text("arg"), annotation: a.node("annotation"), keyword: true, node: a}
		if i < len(kwdefaults) {
			x.def = kwdefaults[i]
		}
		out = append(out, x)
	}
	if v := args.node("kwarg"); v != nil {
		out = append(out, param{name: v.text("arg"), annotation: v.node("annotation"), star: "**", node: v})
	}
	return out
}

// isComponent reports whether a function returns an AppDef by its annotation,
// which is what makes it a component for TorchX.
func (p *porter) isComponent(def *node) bool {
	return !strings.HasPrefix(def.text("name"), "_") && p.full(def.node("returns")) == "torchx.specs.AppDef"
}

// annotated is the type that an annotation says, as far as it matters here.
func (p *porter) annotated(n *node) typ {
	switch {
	case n == nil:
	case n.isNone():
		return of(aNone)
	case n.is("Name") && primitives[n.text("id")] != unknown:
		return of(primitives[n.text("id")])
	case n.is("Name") && (n.text("id") == "list" || n.text("id") == "dict"):
		return anyOf(map[string]class{"list": aList, "dict": aDict}[n.text("id")])
	case n.is("BinOp") && n.node("op").is("BitOr"):
		return p.annotated(n.node("left")).join(p.annotated(n.node("right")))
	case n.is("Subscript"):
		return p.annotatedGeneric(n)
	}
	if spec, ok := strings.CutPrefix(p.fullOf(n), "torchx.specs."); ok && p.known["specs."+spec] != "" {
		return typ{class: aSpec, spec: spec}
	}
	return typ{}
}

func (p *porter) fullOf(n *node) string {
	if n == nil {
		return ""
	}
	return p.full(n)
}

func (p *porter) annotatedGeneric(n *node) typ {
	var parts []typ
	for _, x := range typeArguments(n) {
		parts = append(parts, p.annotated(x))
	}
	switch p.generic(n.node("value")) {
	case "list":
		if len(parts) == 1 {
			return listOf(parts[0])
		}
	case "dict":
		if len(parts) == 2 {
			return typ{class: aDict, key: &parts[0], elem: &parts[1]}
		}
	case "optional":
		if len(parts) == 1 {
			return parts[0].orNone()
		}
	case "union":
		t := of(aNone)
		for _, x := range parts {
			t = t.join(x)
		}
		return t
	}
	return typ{}
}

// generic names the generic type that n is: "list", "dict", "optional", "tuple", "union".
func (p *porter) generic(n *node) string {
	name := strings.TrimPrefix(p.fullOf(n), "typing.")
	if name == "" && n.is("Name") {
		name = n.text("id")
	}
	return strings.ToLower(name)
}

func typeArguments(n *node) []*node {
	index := n.node("slice")
	if index.is("Index") {
		index = index.node("value")
	}
	if index.is("Tuple") {
		return index.list("elts")
	}
	return []*node{index}
}

// commandType reads the annotation of a component's argument by TorchX's rules.
func (p *porter) commandType(n *node) commandType {
	switch {
	case n == nil:
		return commandType{refused: "it has no type annotation"}
	case n.is("Name") && primitives[n.text("id")] != unknown:
		return commandType{text: n.text("id"), typ: p.annotated(n)}
	case n.is("BinOp") && n.node("op").is("BitOr"):
		return p.optional(n.node("left"), n.node("right"))
	case n.is("Subscript"):
		return p.genericType(n)
	case n.is("Name") && slices.Contains([]string{"list", "dict", "tuple"}, p.generic(n)):
		return commandType{refused: "its type does not say what is in it"}
	}
	return commandType{refused: "its type cannot be given on a command line"}
}

func (p *porter) optional(a, b *node) commandType {
	if a.isNone() {
		a, b = b, a
	}
	if !b.isNone() {
		return commandType{refused: "its type is a union of several"}
	}
	t := p.commandType(a)
	if t.text != "" && !strings.HasPrefix(t.text, "optional[") {
		t.text = "optional[" + t.text + "]"
	}
	return t
}

func (p *porter) genericType(n *node) commandType {
	args := typeArguments(n)
	var names []string
	for _, a := range args {
		if !a.is("Name") || primitives[a.text("id")] == unknown {
			names = nil
			break
		}
		names = append(names, a.text("id"))
	}
	switch kind := p.generic(n.node("value")); {
	case kind == "optional" && len(args) == 1:
		return p.optional(args[0], none())
	case kind == "union" && len(args) == 2:
		return p.optional(args[0], args[1])
	case kind == "list" && len(names) == 1:
		return commandType{text: "list[" + names[0] + "]", typ: p.annotated(n)}
	case kind == "dict" && len(names) == 2:
		return commandType{text: "dict[" + names[0] + ", " + names[1] + "]", typ: p.annotated(n)}
	case kind == "list" || kind == "dict":
		return commandType{refused: "only str, int, float and bool can be in a list or dict on a command line"}
	case kind == "tuple":
		return commandType{}
	}
	return commandType{refused: "its type cannot be given on a command line"}
}

// none is the constant None.
func none() *node {
	return &node{kind: "Constant", fields: map[string]json.RawMessage{"type": json.RawMessage(`"NoneType"`)}, parsed: map[string]any{}}
}

// function ports a function at the top of the file.
func (p *porter) function(w *writer, def *node) {
	g := p.globals[def.text("name")]
	component := p.isComponent(def)
	if component {
		if why := p.refusal(def); why != "" {
			p.refused = append(p.refused, Problem{p.name, def.line, "it has no component that TorchX takes: " + g.name + ": " + why})
			p.note(def.line, "%s: TorchX refuses this component and so does the port: %s", g.name, why)
			p.stub(w, def, g, why)
			return
		}
	}
	inner := &writer{}
	first := len(p.problems)
	p.scope = &scope{def: def, types: map[string]typ{}}
	if p.recursive(def) {
		p.fail(def, "%s calls itself, and Starlark has no recursion: write a loop", g.name)
	}
	p.define(inner, def, g.name, component)
	p.shared(def)
	failed := p.scope.failed
	p.scope = nil
	if failed {
		why := "not ported"
		if len(p.problems) > first {
			why = p.problems[first].Error()
		}
		p.stub(w, def, g, "not ported: "+why)
		return
	}
	if component {
		p.components = append(p.components, g.name)
	}
	w.lines = append(w.lines, inner.lines...)
}

// define writes a function into w; p.scope is its scope.
func (p *porter) define(w *writer, def *node, name string, component bool) {
	if len(def.list("decorator_list")) > 0 {
		p.fail(def, "decorators have no counterpart")
	}
	var docs []*doc
	params := parameters(def)
	keyword := false
	for _, x := range params {
		if x.keyword && !keyword && def.node("args").node("vararg") == nil {
			docs = append(docs, text("*"))
		}
		keyword = keyword || x.keyword
		docs = append(docs, p.parameter(x))
	}
	for _, x := range params {
		p.scope.types[x.name] = p.paramType(x)
	}
	w.doc("def "+name, bracket("(", docs, ")"), ":")
	w.indent += 4
	body := def.list("body")
	doc, has := "", false
	if len(body) > 0 && body[0].is("Expr") {
		if doc, has = body[0].node("value").isString(); has {
			p.trailingOf(body[0])
			body = body[1:]
		}
	}
	if component {
		doc, has = p.componentDoc(def, doc, params), true
	}
	if has && strings.TrimSpace(doc) != "" {
		w.line(docString(doc, w.indent))
	}
	p.infer(body)
	if len(body) > 0 || !has {
		p.block(w, body)
	}
	w.indent -= 4
}

// trailingOf drops comments up to the end of a docstring.
func (p *porter) trailingOf(s *node) {
	for len(p.comments) > 0 && p.comments[0].Line <= s.end {
		p.comments = p.comments[1:]
	}
}

func (p *porter) parameter(x param) *doc {
	if x.name == "load" || x.name == "help" && x.star == "" && p.isComponent(p.scope.def) {
		p.fail(x.node, "an argument cannot be called %s", x.name)
	}
	if x.def == nil {
		return text(x.star + x.name)
	}
	outer := p.scope
	p.scope = outer.parent // defaults are evaluated outside
	before := len(p.problems)
	v := p.expr(x.def)
	p.scope = outer
	if len(p.problems) > before {
		p.scope.failed = true
	}
	return join(text(x.name+" = "), v.doc)
}

// paramType is the type of a parameter within its function.
func (p *porter) paramType(x param) typ {
	t := p.annotated(x.annotation)
	switch x.star {
	case "*":
		return typ{class: aTuple, elem: &t}
	case "**":
		str := of(aStr)
		return typ{class: aDict, key: &str, elem: &t}
	}
	// What a command line gives is of its type; what another function gives may be None.
	t.null = t.null || x.def.isNone() || !p.isComponent(p.scope.def)
	return t
}

// nested ports a function within a function.
func (p *porter) nested(w *writer, def *node) {
	outer := p.scope
	if outer == nil {
		p.fail(def, "a function that is defined under a condition: define it always")
		return
	}
	p.scope = &scope{def: def, parent: outer, types: map[string]typ{}}
	p.define(w, def, def.text("name"), false)
	failed := p.scope.failed
	p.scope = outer
	outer.failed = outer.failed || failed
}

// refusal says why TorchX itself does not take a component, "" if it does.
func (p *porter) refusal(def *node) string {
	for _, x := range parameters(def) {
		if x.star == "**" {
			return "**" + x.name + " cannot be given on a command line"
		}
		if t := p.commandType(x.annotation); t.refused != "" && (x.annotation != nil || x.star == "") {
			return "argument " + x.name + ": " + t.refused
		}
	}
	return ""
}

// stub writes a function that fails with the reason.
func (p *porter) stub(w *writer, def *node, g *global, why string) {
	var names []string
	for _, x := range parameters(def) {
		switch {
		case x.star == "**":
		case x.star == "*":
			names = append(names, "*"+x.name)
		case x.keyword && !slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, "*") }):
			names = append(names, "*", x.name+" = None")
		default:
			names = append(names, x.name+" = None")
		}
	}
	if len(names) > 0 {
		w.line("# lint: disable=unused-variable")
	}
	w.line("def " + g.name + "(" + strings.Join(names, ", ") + "):")
	w.indent += 4
	if !strings.HasPrefix(g.name, "_") {
		var doc strings.Builder
		fmt.Fprintf(&doc, "Cannot be used: see what it fails with.\n")
		if len(names) > 0 {
			doc.WriteString("\nArgs:\n")
			for _, x := range parameters(def) {
				if x.star != "**" {
					fmt.Fprintf(&doc, "    %s (str): not used\n", x.star+x.name)
				}
			}
		}
		w.line(docString(doc.String(), w.indent))
	}
	w.statement("", primary(call("fail", p, text(quote(why, false))), typ{}))
	w.indent -= 4
	p.trailingOf(def)
}

// recursive reports whether a function can come to call itself.
func (p *porter) recursive(def *node) bool {
	seen := map[string]bool{}
	var visit func(d *node) bool
	visit = func(d *node) bool {
		found := false
		d.walk(func(n *node) bool {
			if found || !n.is("Name") {
				return !found
			}
			g := p.globals[n.text("id")]
			if g == nil || g.def == nil || len(bindings(d, n.text("id"))) > 0 && n.text("id") != d.text("name") || seen[g.name] {
				found = found || g != nil && g.def == def
				return !found
			}
			seen[g.name] = true
			found = g.def == def || visit(g.def)
			return !found
		})
		return found
	}
	return visit(def)
}
