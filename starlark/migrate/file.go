package migrate

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// file ports the whole program. It returns text that is not yet formatted.
func (p *porter) file(body []*node) string {
	p.collect(body)
	w := &writer{}
	p.header(w)
	doc := "Components ported from " + filepath.Base(p.name) + "."
	if s, ok := docOf(body); ok {
		doc = strings.Join(summary(clean(s)), "\n")
		p.commentsUpTo(body[0].End)
		body = body[1:]
	}
	w.line(docString(doc, 0))
	w.line("")
	head, end := len(w.lines), 0
	own := p.comments
	for _, s := range body {
		if p.comments = own; s.File != "" { // only the comments of the program's file are known
			p.comments = nil
			p.top(w, s, s.Line-2)
			continue
		}
		p.top(w, s, end)
		own, end = p.comments, s.End
	}
	p.comments = own
	p.leading(w, 1<<30)
	w.lines = slices.Insert(w.lines, head, p.preamble()...)
	return strings.Join(w.lines, "\n") + "\n"
}

// docOf returns the docstring at the start of a body.
func docOf(body []*node) (string, bool) {
	if len(body) == 0 || body[0].Kind != "Expr" {
		return "", false
	}
	return constantOf(body[0].Value, "str")
}

// header writes the comments at the start of the file, up to an empty line, such as a license.
func (p *porter) header(w *writer) {
	line := 0
	if len(p.comments) > 0 && p.comments[0].Line < 4 { // behind #!/usr/bin/env python3
		line = p.comments[0].Line - 1
	}
	for len(p.comments) > 0 && p.comments[0].Alone && p.comments[0].Line == line+1 {
		line++
		p.leading(w, line+1)
	}
	if len(w.lines) > 0 {
		w.line("")
	}
}

// collect notes the definitions of the file before anything is ported.
func (p *porter) collect(body []*node) {
	for _, s := range body {
		for _, name := range s.Binds {
			p.globals[name] = &global{name: name}
			if s.Kind == "FunctionDef" {
				p.globals[name].def = s
			}
		}
	}
	var private []string
	for name, g := range p.globals {
		// Public functions are components in Starlark.
		if g.def != nil && !strings.HasPrefix(name, "_") && !p.isComponent(g.def) &&
			!p.bound["_"+name] {
			g.name = "_" + name
			if !g.def.Helper {
				private = append(private, name)
			}
		}
	}
	own := slices.DeleteFunc(slices.Clone(body), func(s *node) bool { return is(s, "FunctionDef", "ClassDef") })
	u := p.usage(&node{Kind: "Module", Body: own})
	for _, s := range body {
		switch {
		case is(s, "ClassDef"):
			p.collectClass(s)
		case is(s, "Assign", "AnnAssign"):
			p.collectConstant(s, u)
		case !is(s, "FunctionDef") && !p.isDropped(s):
			if problem := p.quietly(func() { p.topStmt(&writer{}, s) }); problem != "" {
				p.breakNames(s, problem)
			}
		}
	}
	p.tryClasses(body)
	clear(p.peeks)
	if slices.Sort(private); len(private) > 0 {
		p.hint(0, "not components, because they lack `-> specs.AppDef`, and renamed to _NAME: %s",
			strings.Join(private, ", "))
	}
}

// tryClasses finds the classes that cannot be ported, before functions use them.
func (p *porter) tryClasses(body []*node) {
	comments := p.comments
	for _, s := range body {
		if s.Kind == "ClassDef" && p.globals[s.Name].broken == "" {
			clear(p.peeks)
			p.globals[s.Name].broken = p.quietly(func() { p.classDef(&writer{}, s) })
		}
	}
	p.comments = comments
}

// collectConstant finds the type of a value that the file assigns, and whether it can be ported.
func (p *porter) collectConstant(s *node, u *usage) {
	if s.Value == nil {
		return
	}
	t := typ{}
	broken := p.quietly(func() { t = p.expr(s.Value).typ })
	if is(s.Value, "Call") && p.full(s.Value.Func) == "logging.getLogger" {
		t, broken = of(aLogger), ""
	}
	for _, target := range s.Targets {
		eachTarget(target, t, func(name string, t typ) {
			g := p.globals[name]
			if g.typ = p.held(u, name, t); broken != "" {
				g.broken = broken
			}
			if p.isType(s.Value) || p.annotated(s.Value).class != unknown && is(s.Value, "Name") {
				g.value = s.Value
			}
		})
	}
}

// breakNames marks the names that a statement binds or changes as not ported.
func (p *porter) breakNames(s *node, problem string) {
	u := p.usage(&node{Kind: "Module", Body: []*node{s}})
	for name := range u.bindings {
		u.roots[name] = true
	}
	for name := range u.roots {
		if p.globals[name] == nil {
			p.globals[name] = &global{name: name}
		}
		p.globals[name].broken = problem
	}
}

// topStmt ports a statement at the top of the file that is not a function.
func (p *porter) topStmt(w *writer, s *node) {
	switch {
	case is(s, "ClassDef"):
		p.classDef(w, s)
	case is(s, "Assign", "AnnAssign", "Expr", "Assert"):
		p.stmt(w, s)
	default:
		p.unsupported(s)
	}
}

// top ports a statement at the top of the file, which follows line end. If it cannot be ported,
// functions that use it have a problem.
func (p *porter) top(w *writer, s *node, end int) {
	if p.isDropped(s) {
		p.commentsUpTo(s.End)
		return
	}
	if end > 0 && p.isBlank(end, s) {
		w.line("")
	}
	p.leading(w, s.Line)
	start := len(w.lines)
	inner := &writer{}
	problem := ""
	switch {
	case is(s, "FunctionDef"):
		p.function(inner, s)
	default:
		problem = p.quietly(func() { p.topStmt(inner, s) })
		if problem != "" {
			p.note(s.Line, "not ported: %s", problem)
		}
	}
	if problem == "" {
		w.lines = append(w.lines, inner.lines...)
	} else {
		w.line("# Not ported: line " + strconv.Itoa(s.Line) + " of " + filepath.Base(p.name) + ".")
	}
	p.trailing(w, s, start)
}

// isDropped reports whether a statement has no meaning in a component file.
func (p *porter) isDropped(s *node) bool {
	switch s.Kind {
	case "Pass", "Import", "ImportFrom":
		return true
	case "Assign", "AnnAssign":
		g := p.globals[nameOf(s.Targets[0])]
		return nameOf(s.Targets[0]) == "__all__" || g != nil &&
			(g.typ.class == aLogger || g.value != nil && p.isType(s.Value))
	case "Expr":
		return is(s.Value, "Constant") || is(s.Value, "Call") &&
			strings.HasPrefix(p.full(s.Value.Func), "logging.")
	}
	return false
}

// preamble returns the lines before the ported statements: loads, new names of predeclared
// modules that the file hides, helpers.
func (p *porter) preamble() []string {
	var helpers, renamed []string
	for name := range preludes() {
		renamed = append(renamed, name+"(", p.unbound(name)+"(")
	}
	for _, name := range slices.Sorted(maps.Keys(p.out.prelude)) {
		names := slices.Clone(renamed)
		for _, used := range []string{"torchx.", "path.", "specs.", "math.", "fail("} {
			if strings.Contains(preludes()[name], used) {
				names = append(names, used, p.predeclared(used[:len(used)-1])+used[len(used)-1:])
			}
		}
		helpers = append(helpers, "", strings.NewReplacer(names...).Replace(preludes()[name]))
	}
	var out []string
	for _, full := range slices.Sorted(maps.Keys(p.out.loads)) {
		module, function, _ := strings.Cut(full, ".")
		out = append(out, `load("@torchx//`+module+`.star", `+p.out.loads[full]+` = "`+function+`")`)
	}
	for _, name := range slices.Sorted(maps.Keys(p.out.aliases)) {
		if p.globals[name] != nil {
			p.out.problems = append(p.out.problems, Problem{File: p.name, Msg: name + " is predeclared in component files: rename it in this file"})
			continue
		}
		out = append(out, "_"+name+" = "+name)
	}
	return append(out, helpers...)
}
