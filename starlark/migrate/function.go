package migrate

import (
	"slices"
	"strings"
)

// isComponent reports whether a function returns an AppDef by its annotation,
// which is what makes it a component for TorchX.
func (p *porter) isComponent(def *pyFunctionDef) bool {
	return !strings.HasPrefix(def.Name, "_") && p.full(def.Returns) == "torchx.specs.AppDef"
}

// function ports a function at the top of the file.
func (p *porter) function(w *writer, def *pyFunctionDef) {
	name := p.globals[def.Name].name
	isComponent := p.isComponent(def)
	if isComponent {
		if why := p.refusal(def); why != "" {
			p.out.refused = append(p.out.refused, Problem{p.name, def.Line, "it has no component that TorchX takes: " + name + ": " + why})
			p.note(def.Line, "%s: TorchX refuses this component and so does the port: %s", name, why)
			p.stub(w, def, name, why)
			return
		}
	}
	inner := &writer{}
	first := len(p.out.problems)
	p.scope = &scope{def: def, types: map[string]typ{}}
	if p.isRecursive(def) {
		p.fail(def, "%s calls itself, and Starlark has no recursion: write a loop", name)
	}
	p.define(inner, def, name, isComponent)
	p.checkShared(def)
	p.scope = nil
	if len(p.out.problems) > first {
		p.stub(w, def, name, "not ported: "+p.out.problems[first].Error())
		return
	}
	if isComponent {
		p.out.components = append(p.out.components, name)
	}
	w.lines = append(w.lines, inner.lines...)
}

// define writes a function into w; p.scope is its scope.
func (p *porter) define(w *writer, def *pyFunctionDef, name string, isComponent bool) {
	if len(def.DecoratorList) > 0 {
		p.fail(def, "decorators have no counterpart")
	}
	var params []*doc
	hasStar := false
	for _, x := range def.Args {
		if x.Keyword && !hasStar {
			params = append(params, text("*"))
		}
		hasStar = hasStar || x.Keyword || x.Star == "*"
		params = append(params, p.parameter(x))
	}
	for _, x := range def.Args {
		p.scope.types[x.Arg] = p.paramType(x)
	}
	w.statement("def "+name, bracket("(", params, ")"), ":")
	body := def.Body
	doc, hasDoc := docOf(body)
	if hasDoc {
		p.commentsUpTo(body[0].at().End)
		body = body[1:]
	}
	if isComponent {
		doc, hasDoc = p.componentDoc(def, doc), true
	}
	if strings.TrimSpace(doc) != "" {
		w.line("    " + docString(doc, w.indent+4))
	}
	p.infer(body)
	if len(body) > 0 || !hasDoc {
		p.block(w, body)
	}
}

func (p *porter) parameter(x *pyArg) *doc {
	if x.Arg == "load" || x.Arg == "help" && x.Star == "" && p.isComponent(p.scope.def) {
		p.fail(x, "an argument cannot be called %s", x.Arg)
	}
	if x.Default == nil {
		return text(x.Star + x.Arg)
	}
	inner := p.scope
	p.scope = inner.parent // defaults are evaluated outside
	v := p.expr(x.Default)
	p.scope = inner
	return cat(x.Arg+" = ", v)
}

// paramType is the type of a parameter within its function.
func (p *porter) paramType(x *pyArg) typ {
	t := p.annotated(x.Annotation)
	switch x.Star {
	case "*":
		return typ{class: aTuple, elem: &t}
	case "**":
		return typ{class: aDict, key: &typ{class: aStr}, elem: &t}
	}
	// What a command line gives is of its type; what another function gives may be None.
	t.null = t.null || isNone(x.Default) || !p.isComponent(p.scope.def)
	return t
}

// nested ports a function within a function.
func (p *porter) nested(w *writer, def *pyFunctionDef) {
	if p.scope == nil {
		p.fail(def, "a function that is defined under a condition: define it always")
		return
	}
	p.within(map[string]typ{}, func() {
		p.scope.def = def
		p.define(w, def, def.Name, false)
	})
}

// refusal says why TorchX itself does not take a component, "" if it does.
func (p *porter) refusal(def *pyFunctionDef) string {
	for _, x := range def.Args {
		if x.Star == "**" {
			return "**" + x.Arg + " cannot be given on a command line"
		}
		if _, why := p.commandType(x.Annotation); why != "" && (x.Annotation != nil || x.Star == "") {
			return "argument " + x.Arg + ": " + why
		}
	}
	return ""
}

// stub writes a function that fails with the reason.
func (p *porter) stub(w *writer, def *pyFunctionDef, name, why string) {
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
	w.indent += 4
	if !strings.HasPrefix(name, "_") {
		doc := "Cannot be used: see what it fails with.\n"
		if len(entries) > 0 {
			doc += "\nArgs:\n" + strings.Join(entries, "\n") + "\n"
		}
		w.line(docString(doc, w.indent))
	}
	w.statement("", p.call("fail", quote(why, false)), "")
	w.indent -= 4
	p.commentsUpTo(def.End)
}

// isRecursive reports whether a function can come to call itself.
func (p *porter) isRecursive(def *pyFunctionDef) bool {
	seen := map[string]bool{}
	var calls func(d *pyFunctionDef) bool
	calls = func(d *pyFunctionDef) bool {
		found := false
		walk(d, func(n node) bool {
			name := nameOf(n)
			g := p.globals[name]
			switch {
			case found || g == nil || g.def == nil:
			case g.def == def:
				found = true
			case !seen[g.name] && (name == d.Name || len(p.usage(d).bindings[name]) == 0):
				seen[g.name] = true
				found = calls(g.def)
			}
			return !found
		})
		return found
	}
	return calls(def)
}

// checkGiven compares the arguments of a call of a function of the file with its
// annotations.
func (p *porter) checkGiven(n *pyCall, def *pyFunctionDef) {
	check := func(x *pyArg, value node) {
		t := p.annotated(x.Annotation)
		if given := p.peek(value); x.Star == "" && given.contradicts(t) {
			p.fail(value, "%s of %s is annotated as %s and gets a %s: correct one of them", x.Arg, def.Name, t.class, given.class)
		}
	}
	for i, a := range n.Args {
		if isStarred(a) || i >= len(def.Args) || def.Args[i].Star != "" {
			break
		}
		check(def.Args[i], a)
	}
	for _, k := range n.Keywords {
		if i := slices.IndexFunc(def.Args, func(x *pyArg) bool { return x.Arg == k.Arg }); i >= 0 {
			check(def.Args[i], k.Value)
		}
	}
}

// checkReturned compares what a function returns with its annotation.
func (p *porter) checkReturned(n *pyReturn) {
	if p.scope == nil || p.scope.def == nil {
		return
	}
	def := p.scope.def
	t, given := p.annotated(def.Returns), p.peek(n.Value)
	if given.class == unknown {
		p.unproved[def.Name] = true
	}
	if given.contradicts(t) {
		p.fail(n, "%s is annotated to return %s and returns a %s: correct one of them", def.Name, t.class, given.class)
	}
}
