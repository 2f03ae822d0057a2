package migrate

import (
	"slices"
	"strings"
)

// isComponent reports whether a function returns an AppDef by its annotation,
// which is what makes it a component for TorchX.
func (p *porter) isComponent(def *node) bool {
	return !def.Helper && !strings.HasPrefix(def.Name, "_") && p.full(def.Returns) == "torchx.specs.AppDef"
}

// function ports a function at the top of the file.
func (p *porter) function(w *writer, def *node) {
	name := p.globals[def.Name].name
	isComponent := p.isComponent(def)
	if why := p.refusal(def); isComponent && why != "" {
		p.out.refused = append(p.out.refused,
			Problem{File: p.name, Line: def.Line, Msg: "no component that TorchX accepts: " + name + ": " + why})
		p.note(def.Line, "%s: TorchX refuses this component, and so does the port: %s", name, why)
		p.stub(w, def, name, why)
		return
	}
	inner := &writer{}
	first := len(p.out.problems)
	p.scope = &scope{def: def, types: map[string]typ{}, places: map[string][]*node{}}
	if i := p.changedParam(def); i >= 0 {
		p.scope.result = def.Args[i].Arg
	}
	if p.isRecursive(def) {
		p.fail(def, "%s calls itself, and Starlark has no recursion: write a loop", name)
	}
	p.define(inner, def, name, isComponent)
	p.checkShared(def)
	p.scope = nil
	if len(p.out.problems) > first {
		p.globals[def.Name].isStub = true
		p.stub(w, def, name, "not ported: "+p.out.problems[first].Error())
		return
	}
	if isComponent {
		p.out.components = append(p.out.components, name)
	}
	w.lines = append(w.lines, inner.lines...)
}

// define writes a function into w; p.scope is its scope.
func (p *porter) define(w *writer, def *node, name string, isComponent bool) {
	if len(def.DecoratorList) > 0 {
		p.refuse(def, "decorator")
	}
	w.line("def " + name + bracket("(", p.parameters(def), ")", false) + ":")
	body := def.Body
	doc, hasDoc := docOf(body)
	if hasDoc {
		p.commentsUpTo(body[0].End)
		body = body[1:]
	}
	if isComponent {
		doc, hasDoc = p.componentDoc(def, doc), true
	} else {
		doc = strings.Join(summary(clean(doc)), "\n")
	}
	if strings.TrimSpace(doc) != "" {
		w.line("    " + docString(doc, w.indent+4))
	}
	p.infer(body)
	if len(body) > 0 || !hasDoc && def.Name != "__init__" {
		p.block(w, body)
	}
	if result := p.scope.result; result != "" &&
		(len(body) == 0 || body[len(body)-1].Kind != "Return") {
		w.line("    return " + result)
	}
}

// parameters ports the parameters of a function and sets their types.
func (p *porter) parameters(def *node) []string {
	var params []string
	hasStar := false
	for _, x := range def.Args {
		if x.Keyword && !hasStar {
			params = append(params, "*")
		}
		hasStar = hasStar || x.Keyword || x.Star == "*"
		params = append(params, p.parameter(x))
	}
	for _, x := range def.Args {
		if _, ok := p.scope.types[x.Arg]; !ok { // self has one
			p.scope.types[x.Arg] = p.held(p.usage(def), x.Arg, p.paramType(x))
		}
	}
	return params
}

func (p *porter) parameter(x *node) string {
	if x.Arg == "load" || x.Arg == "help" && x.Star == "" && p.isComponent(p.scope.def) {
		p.fail(x, "an argument cannot be called %s", x.Arg)
	}
	if x.Default == nil {
		return x.Star + x.Arg
	}
	inner := p.scope
	p.scope = inner.parent // defaults are evaluated outside
	v := p.expr(x.Default)
	p.scope = inner
	return x.Arg + " = " + v.text
}

// paramType is the type of a parameter within its function.
func (p *porter) paramType(x *node) typ {
	t := p.annotated(x.Annotation)
	switch x.Star {
	case "*":
		t.loose = !p.isComponent(p.scope.def) // checkGiven does not see these
		return typ{class: aTuple, elem: &t}
	case "**":
		return dictOf(of(aStr), t)
	}
	// A command line gives a value of the type; another function may pass None.
	t.null = t.null || isNone(x.Default) || !p.isComponent(p.scope.def)
	return t
}

// nested ports a function within a function.
func (p *porter) nested(w *writer, def *node) {
	p.within(map[string]typ{}, func() {
		p.scope.def, p.scope.result = def, ""
		p.define(w, def, def.Name, false)
	})
}

// refusal returns why TorchX refuses a component, "" if it accepts it.
func (p *porter) refusal(def *node) string {
	for _, x := range def.Args {
		if x.Star == "**" {
			return "**" + x.Arg + " cannot be given on a command line"
		}
		if why := p.command(x.Annotation).refused; why != "" &&
			(x.Annotation != nil || x.Star == "") {
			return "argument " + x.Arg + ": " + why
		}
	}
	return ""
}

// stub writes a function that fails with the reason.
func (p *porter) stub(w *writer, def *node, name, why string) {
	var params, entries []string
	hasStar := false
	for _, x := range def.Args {
		if x.Star == "**" {
			continue
		}
		if x.Keyword && !hasStar {
			params = append(params, "*")
		}
		hasStar = hasStar || x.Keyword || x.Star == "*"
		if params = append(params, x.Star+x.Arg); x.Star == "" {
			params[len(params)-1] += " = None"
		}
		entries = append(entries, "    "+x.Star+x.Arg+" (str): not used")
	}
	if len(params) > 0 {
		w.line("# lint: disable=unused-variable")
	}
	w.line("def " + name + "(" + strings.Join(params, ", ") + "):")
	if !strings.HasPrefix(name, "_") {
		doc := "Not ported: calling it fails with the reason.\n"
		if len(entries) > 0 {
			doc += "\nArgs:\n" + strings.Join(entries, "\n") + "\n"
		}
		w.line("    " + docString(doc, 4))
	}
	w.line("    " + p.call("fail", quote(why, false)))
	p.commentsUpTo(def.End)
}

// isRecursive reports whether a function may call itself, directly or through others.
func (p *porter) isRecursive(def *node) bool {
	seen := map[string]bool{}
	var calls func(d *node) bool
	calls = func(d *node) bool {
		for name := range p.usage(d).reads {
			g := p.globals[name]
			if g == nil || g.def == nil || p.isBoundIn(d, name) {
				continue
			}
			if g.def == def {
				return true
			}
			if !seen[name] {
				seen[name] = true
				if calls(g.def) {
					return true
				}
			}
		}
		return false
	}
	return calls(def)
}

// needsStub reports whether a function calls one that could not be ported.
func (p *porter) needsStub(def *node, seen map[*node]bool) bool {
	seen[def] = true
	for name := range p.usage(def).reads {
		g := p.globals[name]
		if g != nil && g.def != nil && !seen[g.def] && (g.isStub || p.needsStub(g.def, seen)) {
			return true
		}
	}
	return false
}

// isBoundIn reports whether a name is a variable of a function, other than the function's name.
func (p *porter) isBoundIn(def *node, name string) bool {
	return slices.ContainsFunc(p.usage(def).bindings[name], func(b *node) bool { return b != def })
}

// checkGiven compares the arguments of a call with the annotations of the called function.
func (p *porter) checkGiven(n *node, def *node) {
	check := func(x, value *node) {
		t := p.annotated(x.Annotation)
		if given := p.peek(value); x.Star == "" && given.contradicts(t) {
			p.fail(value, "%s of %s is annotated as %s but gets a %s: correct one of them", x.Arg,
				def.Name, t.class, given.class)
		}
	}
	for i, a := range n.Args {
		if isStarred(a) || i >= len(def.Args) || def.Args[i].Star != "" {
			break
		}
		check(def.Args[i], a)
	}
	for _, x := range def.Args {
		if v := n.keyword(x.Arg); v != nil {
			check(x, v)
		}
	}
}

// returned ports a return and compares its value with the annotation.
func (p *porter) returned(w *writer, n *node) {
	switch {
	case n.Value == nil && p.scope != nil && p.scope.result != "":
		w.line("return " + p.scope.result)
	case n.Value == nil:
		w.line("return None")
	default:
		v := p.expr(n.Value)
		if def := p.scope.def; v.typ.contradicts(p.annotated(def.Returns)) {
			p.fail(n, "%s is annotated to return %s but returns a %s: correct one of them",
				def.Name, p.annotated(def.Returns).class, v.typ.class)
		}
		w.line("return " + v.text)
	}
}
