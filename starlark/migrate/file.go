package migrate

import (
	"path/filepath"
	"slices"
	"strings"
)

// file ports the whole program. The text still has to be formatted.
func (p *porter) file(tree *node) string {
	body := tree.list("body")
	tree.walk(func(n *node) bool {
		if n.is("Import", "ImportFrom") {
			p.importName(n)
		}
		return true
	})
	p.collect(body)
	w := &writer{}
	p.header(w)
	doc := "Components ported from " + filepath.Base(p.name) + "."
	if len(body) > 0 && body[0].is("Expr") {
		if s, ok := body[0].node("value").isString(); ok {
			doc = strings.Join(summary(clean(s)), "\n")
			p.trailingOf(body[0])
			body = body[1:]
		}
	}
	w.line(docString(doc, 0))
	w.line("")
	head := len(w.lines)
	end := 0
	for _, s := range body {
		p.top(w, s, end)
		end = s.end
	}
	p.leading(w, 1<<30)
	w.lines = slices.Insert(w.lines, head, p.preamble()...)
	return strings.Join(w.lines, "\n") + "\n"
}

// header takes over the comments that the file begins with, up to an empty line:
// a licence stands before the docstring.
func (p *porter) header(w *writer) {
	line := 0
	for len(p.comments) > 0 && p.comments[0].Alone && p.comments[0].Line == line+1 {
		line = p.comments[0].Line
		p.leading(w, line+1)
	}
	if len(w.lines) > 0 {
		w.line("")
	}
}

// collect notes what the file defines, before anything is ported.
func (p *porter) collect(body []*node) {
	times := map[string]int{}
	for _, s := range body {
		for _, name := range binds(s) {
			times[name]++
			g := &global{name: name}
			if s.is("FunctionDef") {
				g.def = s
			}
			p.globals[name] = g
		}
	}
	var private []string
	defer func() {
		if slices.Sort(private); len(private) > 0 {
			p.note(0, "not annotated with `-> specs.AppDef`, so no components, and called _NAME in the port: %s", strings.Join(private, ", "))
		}
	}()
	for name, g := range p.globals {
		if g.def != nil && !strings.HasPrefix(name, "_") && !p.isComponent(g.def) {
			// What is public is a component here.
			if g.name = "_" + name; p.bound[g.name] {
				g.name = name
				continue
			}
			private = append(private, name)
		}
	}
	p.changed = p.changedConstants(body)
	for _, s := range body {
		for _, name := range binds(s) {
			if times[name] > 1 {
				p.globals[name].broken = "it gets several values"
			}
		}
		p.constantType(s)
	}
}

// changedConstants lists the lists and dicts that statements of the file put something
// into, or may.
func (p *porter) changedConstants(body []*node) map[string]bool {
	changed := map[string]bool{}
	for _, s := range body {
		if s.is("FunctionDef", "ClassDef") {
			continue
		}
		for _, n := range changesIn(s) {
			if name, ok := mutates(n); ok {
				changed[name] = true
			}
			if n.is("Call") && p.mayChange(n.node("func")) {
				n.walk(func(x *node) bool {
					changed[x.text("id")] = true
					return true
				})
			}
		}
	}
	return changed
}

// constantType finds the type of what a statement of the file assigns, and whether it
// can be ported at all.
func (p *porter) constantType(s *node) {
	if s.is("ClassDef") {
		p.collectEnum(s)
		return
	}
	if !s.is("Assign", "AnnAssign") || s.node("value") == nil {
		return
	}
	before := len(p.problems)
	t := p.expr(s.node("value")).typ
	broken := ""
	if len(p.problems) > before {
		broken = p.problems[before].Msg
		p.problems = p.problems[:before]
	}
	if s.node("value").is("Call") && p.full(s.node("value").node("func")) == "logging.getLogger" {
		t, broken = typ{spec: "logger"}, ""
	}
	for _, target := range append(s.list("targets"), s.node("target")) {
		if target == nil {
			continue
		}
		p.eachTarget(target, t, func(name string, t typ) {
			if p.changed[name] && classNames[t.class] != "" {
				t.key, t.elem = &typ{}, &typ{}
			}
			g := p.globals[name]
			g.typ = t
			if broken != "" {
				g.broken = broken
			}
		})
	}
}

// top ports a statement of the file itself.
func (p *porter) top(w *writer, s *node, end int) {
	if p.dropped(s) {
		p.trailingOf(s)
		return
	}
	if end > 0 && p.blank(end, s) {
		w.line("")
	}
	p.leading(w, s.line)
	for _, name := range binds(s) {
		if g := p.globals[name]; g.broken == "it gets several values" {
			p.fail(s, "%s gets several values in this file; in Starlark it has one", name)
			p.trailingOf(s)
			return
		}
	}
	before := len(p.problems)
	inner := &writer{}
	switch s.kind {
	case "FunctionDef":
		p.function(inner, s)
	case "ClassDef":
		p.enumClass(inner, s)
	case "Assign", "AnnAssign", "Expr", "Assert":
		p.stmt(inner, s)
	case "If", "For", "AugAssign":
		p.fail(s, "at the top of a file there is no `%s` in what is ported: write one expression, or a function", map[string]string{"If": "if", "For": "for", "AugAssign": "+="}[s.kind])
	default:
		p.fail(s, "%s", unsupported(s))
	}
	if len(p.problems) == before || s.is("FunctionDef") {
		w.lines = append(w.lines, inner.lines...)
	} else {
		w.line("# Not ported: line " + itoa(s.line) + " of " + filepath.Base(p.name) + ".")
	}
	p.trailing(w, s)
	p.scope = nil
}

// dropped reports whether a statement says nothing to a component file.
func (p *porter) dropped(s *node) bool {
	switch {
	case s.is("Import", "ImportFrom", "Pass"):
		return true
	case s.is("If"):
		test := s.node("test")
		main := test.is("Compare") && test.node("left").isName("__name__")
		checking := test.isName("TYPE_CHECKING") || p.full(test) == "typing.TYPE_CHECKING"
		return (main || checking) && len(s.list("orelse")) == 0
	case s.is("Assign"):
		t := s.list("targets")[0]
		g := p.globals[t.text("id")]
		return t.isName("__all__") || t.is("Name") && g != nil && g.typ.spec == "logger"
	case s.is("Expr"):
		return s.node("value").is("Constant")
	}
	return false
}

// preludes are helpers for what Starlark lacks.
var preludes = map[string]string{
	"_sum": `def _sum(values, start = 0):
    total = start
    for v in values:
        total += v
    return total
`,
	"_require_env": `def _require_env(name):
    value = TORCHX.getenv(name)
    if value == None:
        fail("the environment variable %s is not set" % name)
    return value
`,
}

// preamble is what stands before the file's own statements: loads, other names for
// predeclared modules that the file hides, helpers.
func (p *porter) preamble() []string {
	var helpers []string
	for _, name := range sortedKeys(p.prelude) {
		body := strings.ReplaceAll(preludes[name], "TORCHX", p.predeclared("torchx"))
		body = strings.ReplaceAll(body, "fail(", p.predeclared("fail")+"(")
		helpers = append(helpers, "", body)
	}
	var out []string
	for _, full := range sortedKeys(p.loads) {
		module, function, _ := strings.Cut(full, ".")
		out = append(out, `load("@torchx//`+module+`.star", `+p.loads[full]+` = "`+function+`")`)
	}
	for _, name := range sortedKeys(p.aliases) {
		if p.globals[name] != nil {
			p.problems = append(p.problems, Problem{File: p.name, Msg: name + " is defined in this file and means something else in component files: rename it"})
			continue
		}
		out = append(out, "_"+name+" = "+name)
	}
	return append(out, helpers...)
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
