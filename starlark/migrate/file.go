package migrate

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// severalValues is why a name of the file that is assigned twice cannot be ported.
const severalValues = "it gets several values"

// file ports the whole program. The text still has to be formatted.
func (p *porter) file(body []node) string {
	p.collect(body)
	w := &writer{}
	p.header(w)
	doc := "Components ported from " + filepath.Base(p.name) + "."
	if s, ok := docOf(body); ok {
		doc = strings.Join(summary(clean(s)), "\n")
		p.commentsUpTo(body[0].at().End)
		body = body[1:]
	}
	w.line(docString(doc, 0))
	w.line("")
	head, end := len(w.lines), 0
	for _, s := range body {
		p.top(w, s, end)
		end = s.at().End
	}
	p.leading(w, 1<<30)
	w.lines = slices.Insert(w.lines, head, p.preamble()...)
	return strings.Join(w.lines, "\n") + "\n"
}

// docOf returns the docstring that a body begins with.
func docOf(body []node) (string, bool) {
	if len(body) > 0 {
		if x, ok := body[0].(*pyExpr); ok {
			return constantOf(x.Value, "str")
		}
	}
	return "", false
}

// header writes the comments that the file begins with, up to an empty line:
// a license stands before the docstring.
func (p *porter) header(w *writer) {
	line := 0
	for len(p.comments) > 0 && p.comments[0].Alone && p.comments[0].Line == line+1 {
		line++
		p.leading(w, line+1)
	}
	if len(w.lines) > 0 {
		w.line("")
	}
}

// collect notes what the file defines, before anything is ported.
func (p *porter) collect(body []node) {
	times := map[string]int{}
	for _, s := range body {
		for _, name := range s.at().Binds {
			times[name]++
			def, _ := s.(*pyFunctionDef)
			p.globals[name] = &global{name: name, def: def}
		}
	}
	var private []string
	for name, g := range p.globals {
		// What is public is a component here.
		if g.def != nil && !strings.HasPrefix(name, "_") && !p.isComponent(g.def) && !p.bound["_"+name] {
			g.name = "_" + name
			private = append(private, name)
		}
	}
	changed := p.changedConstants(body)
	for _, s := range body {
		for _, name := range s.at().Binds {
			if times[name] > 1 {
				p.globals[name].broken = severalValues
			}
		}
		switch s := s.(type) {
		case *pyClassDef:
			p.collectEnum(s)
		case *pyAssign:
			p.collectConstant(s, changed)
		}
	}
	if slices.Sort(private); len(private) > 0 {
		p.note(0, "not annotated with `-> specs.AppDef`, so no components, and called _NAME in the port: %s", strings.Join(private, ", "))
	}
}

// changedConstants lists the lists and dicts that statements of the file put something
// into, or may.
func (p *porter) changedConstants(body []node) map[string]bool {
	changed := map[string]bool{}
	for _, s := range body {
		switch s.(type) {
		case *pyFunctionDef, *pyClassDef:
			continue
		}
		walk(s, func(n node) bool {
			if name, ok := mutated(n); ok {
				changed[name] = true
			}
			if c, ok := n.(*pyCall); ok && p.mayChange(c.Func) {
				walk(n, func(x node) bool {
					changed[nameOf(x)] = true
					return true
				})
			}
			return true
		})
	}
	return changed
}

// collectConstant finds the type of what a statement of the file assigns, and whether it
// can be ported at all.
func (p *porter) collectConstant(s *pyAssign, changed map[string]bool) {
	if s.Value == nil {
		return
	}
	before := len(p.out.problems)
	t := p.expr(s.Value).typ
	broken := ""
	if len(p.out.problems) > before {
		broken = p.out.problems[before].Msg
		p.out.problems = p.out.problems[:before]
	}
	if c, ok := s.Value.(*pyCall); ok && p.full(c.Func) == "logging.getLogger" {
		t, broken = typ{spec: "logger"}, ""
	}
	for _, target := range s.Targets {
		eachTarget(target, t, func(name string, t typ) {
			if changed[name] && t.class.isBuiltin() {
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

// top ports a statement of the file itself, which stands behind line end.
func (p *porter) top(w *writer, s node, end int) {
	if p.isDropped(s) {
		p.commentsUpTo(s.at().End)
		return
	}
	if end > 0 && p.isBlank(end, s) {
		w.line("")
	}
	p.leading(w, s.at().Line)
	for _, name := range s.at().Binds {
		if p.globals[name].broken == severalValues {
			p.fail(s, "%s gets several values in this file; in Starlark it has one", name)
			p.commentsUpTo(s.at().End)
			return
		}
	}
	before := len(p.out.problems)
	inner := &writer{}
	def, isFunction := s.(*pyFunctionDef)
	switch s := s.(type) {
	case *pyFunctionDef:
		p.function(inner, def)
	case *pyClassDef:
		p.enumClass(inner, s)
	case *pyAssign, *pyExpr, *pyAssert:
		p.stmt(inner, s)
	case *pyIf, *pyFor, *pyAugAssign:
		word := map[string]string{"If": "if", "For": "for", "AugAssign": "+="}[s.at().Kind]
		p.fail(s, "at the top of a file there is no `%s` in what is ported: write one expression, or a function", word)
	default:
		p.fail(s, "%s", unsupported(s))
	}
	if len(p.out.problems) == before || isFunction {
		w.lines = append(w.lines, inner.lines...)
	} else {
		w.line("# Not ported: line " + itoa(s.at().Line) + " of " + filepath.Base(p.name) + ".")
	}
	p.trailing(w, s)
}

// silent are the statements that say nothing to a component file.
var silent = []string{"Pass", "Import", "ImportFrom"}

// isDropped reports whether a statement says nothing to a component file.
func (p *porter) isDropped(s node) bool {
	switch s := s.(type) {
	case *pyOther:
		return slices.Contains(silent, s.Kind)
	case *pyIf:
		test, _ := s.Test.(*pyCompare)
		isMain := test != nil && nameOf(test.Left) == "__name__"
		isChecking := nameOf(s.Test) == "TYPE_CHECKING" || p.full(s.Test) == "typing.TYPE_CHECKING"
		return (isMain || isChecking) && len(s.Orelse) == 0
	case *pyAssign:
		name := nameOf(s.Targets[0])
		g := p.globals[name]
		return s.Kind == "Assign" && (name == "__all__" || g != nil && g.typ.spec == "logger")
	case *pyExpr:
		_, ok := s.Value.(*pyConstant)
		return ok
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
	for _, name := range slices.Sorted(maps.Keys(p.out.prelude)) {
		body := strings.ReplaceAll(preludes[name], "TORCHX", p.predeclared("torchx"))
		helpers = append(helpers, "", strings.ReplaceAll(body, "fail(", p.predeclared("fail")+"("))
	}
	var out []string
	for _, full := range slices.Sorted(maps.Keys(p.out.loads)) {
		module, function, _ := strings.Cut(full, ".")
		out = append(out, `load("@torchx//`+module+`.star", `+p.out.loads[full]+` = "`+function+`")`)
	}
	for _, name := range slices.Sorted(maps.Keys(p.out.aliases)) {
		if p.globals[name] != nil {
			p.out.problems = append(p.out.problems, Problem{File: p.name, Msg: name + " is defined in this file and means something else in component files: rename it"})
			continue
		}
		out = append(out, "_"+name+" = "+name)
	}
	return append(out, helpers...)
}
