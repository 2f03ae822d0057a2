package migrate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"torchx/runtime/suggest"
	"torchx/starlark/specmodule"
)

// porter ports one file.
type porter struct {
	name     string
	comments []comment // those that were not written yet
	stars    []star
	imports  map[string]string  // local names of what was imported, to its full name in Python
	globals  map[string]*global // what the file itself defines
	bound    map[string]bool    // every name that is bound anywhere in the file
	called   map[string]bool    // every name that is called
	known    map[string]string  // the predeclared names that ports may use, "specs.Role", to their signatures
	usages   map[*node]*usage
	peeks    map[peeked]typ // types that are known; empty again when those of variables change

	scope *scope // nil at the top of the file
	at    *node  // the statement that is being ported
	depth int    // of expressions
	work  int    // how many were looked at
	// unordered: what is iterated goes into something that has no order, or another one.
	unordered bool
	out       output
}

// output is what the port needs and says besides its statements.
type output struct {
	problems   []Problem
	notes      []Problem
	refused    []Problem // components that TorchX does not take either
	components []string
	prelude    map[string]bool   // helpers that the port needs
	aliases    map[string]bool   // predeclared names that are hidden somewhere
	loads      map[string]string // "dist.ddp" to the name it is loaded as
}

// global is a name that the file defines.
type global struct {
	name   string // in the port
	def    *node  // of a function
	class  *classInfo
	value  *node // what it is assigned
	typ    typ
	broken string // why it could not be ported
}

// scope is a function, or a lambda or comprehension in it, that is being ported.
type scope struct {
	def    *node
	parent *scope
	types  map[string]typ // of parameters and local variables
	self   string         // in __init__, the name of the object, whose fields are variables there
	places map[string][]*node
	result string // what a function returns that changes its parameter
}

func newPorter(name string, d *dumped) *porter {
	p := &porter{
		name: name, comments: d.Comments, stars: d.Stars, imports: d.Imports, globals: map[string]*global{}, bound: map[string]bool{}, called: map[string]bool{},
		known: map[string]string{}, usages: map[*node]*usage{}, peeks: map[peeked]typ{},
		out: output{prelude: map[string]bool{}, aliases: map[string]bool{}, loads: map[string]string{}},
	}
	for name, full := range p.imports {
		p.imports[name] = canonical(full)
	}
	p.checkStars(0, math.MaxInt)
	for full, doc := range specmodule.Docs() {
		p.known[full] = doc.Signature
	}
	walk(d.Tree, func(n *node) bool {
		for _, name := range n.Binds {
			p.bound[name] = true
		}
		if n.Kind == "Call" || n.Kind == "keyword" { // default_factory = list
			p.called[nameOf(n.Func)], p.called[nameOf(n.Value)] = true, true
		}
		return true
	})
	return p
}

// checkStars finds `from … import *` in some lines.
func (p *porter) checkStars(first, last int) {
	for _, s := range p.stars {
		if s.Module != "typing" && first <= s.Line && s.Line <= last {
			msg := "`from " + s.Module + " import *` brings unknown names: import them one by one"
			p.out.problems = append(p.out.problems, Problem{p.name, s.Line, msg})
		}
	}
}

// fail notes a place that cannot be ported, and returns something in its place.
func (p *porter) fail(n *node, format string, args ...any) value {
	p.out.problems = append(p.out.problems, Problem{p.name, n.Line, fmt.Sprintf(format, args...)})
	return primary("None", typ{})
}

func (p *porter) note(line int, format string, args ...any) {
	p.out.notes = append(p.out.notes, Problem{p.name, line, fmt.Sprintf(format, args...)})
}

// quietly calls f, drops the problems that it finds, and returns the first.
func (p *porter) quietly(f func()) (problem string) {
	before := len(p.out.problems)
	f()
	if len(p.out.problems) > before {
		problem = p.out.problems[before].Msg
	}
	p.out.problems = p.out.problems[:before]
	return problem
}

// peek returns the type of an expression and drops the problems in it.
func (p *porter) peek(n *node) typ {
	key := peeked{n, p.scope, p.unordered}
	t, ok := p.peeks[key]
	if !ok {
		p.quietly(func() { t = p.expr(n).typ })
		p.peeks[key] = t
	}
	return t
}

// peeked is what the type of an expression depends on, besides the types of variables.
type peeked struct {
	node      *node
	scope     *scope
	unordered bool
}

// within ports what has variables of its own, such as a comprehension.
func (p *porter) within(types map[string]typ, port func()) {
	outer := p.scope
	p.scope = &scope{parent: outer, types: types}
	if outer != nil {
		p.scope.def, p.scope.self, p.scope.places, p.scope.result = outer.def, outer.self, outer.places, outer.result
	}
	port()
	p.scope = outer
}

// local returns the scope, from the innermost, whose variable the name is.
func (p *porter) local(name string) *scope {
	for s := p.scope; s != nil; s = s.parent {
		if _, ok := s.types[name]; ok {
			return s
		}
	}
	return nil
}

// global returns what a name means that the file defines, nil if it is a local variable
// or something else.
func (p *porter) global(name string) *global {
	if p.local(name) != nil {
		return nil
	}
	return p.globals[name]
}

// isFree reports whether the file does not define a name: it is Python's, or imported.
func (p *porter) isFree(name string) bool { return p.local(name) == nil && p.globals[name] == nil }

// full returns the full name in Python of what a name or a.b.c refers to if that
// was imported: "torchx.specs.AppDef". "" if it was not.
func (p *porter) full(n *node) string {
	switch {
	case is(n, "Name") && p.isFree(n.ID):
		return p.imports[n.ID]
	case is(n, "Attribute"):
		if base := p.full(n.Value); base != "" {
			return canonical(base + "." + n.Attr)
		}
	}
	return ""
}

// predeclared returns the name that a predeclared module or function, or a prelude, has in the
// port: another one if the file itself uses it for something else.
func (p *porter) predeclared(full string) string {
	if _, ok := preludes()[full]; ok {
		p.out.prelude[full] = true
		return p.unbound(full)
	}
	root, _, _ := strings.Cut(full, ".")
	if !p.bound[root] {
		return full
	}
	p.out.aliases[root] = true
	return "_" + full
}

// unbound returns a name that the file does not use, made from another.
func (p *porter) unbound(name string) string {
	for p.bound[name] {
		name += "_"
	}
	return name
}

// imported ports a reference to something imported.
func (p *porter) imported(n *node, full string) value {
	e, ok := constants()[full]
	if !ok {
		e, ok = functions()[full]
		e.typ = typ{}
	}
	rest, isSpec := strings.CutPrefix(full, "torchx.specs.")
	switch {
	case isSpec && rest != "named_resources":
		return p.specsName(n, rest)
	case ok && strings.HasPrefix(e.starlark, "@"):
		file, names, _ := strings.Cut(e.starlark[1:], ".")
		name, field, _ := strings.Cut(names, ".")
		local := p.unbound(file + "_" + name)
		p.out.loads[file+"."+name] = local
		if field != "" {
			local += "." + field
		}
		return primary(local, e.typ)
	case ok:
		return primary(p.predeclared(e.starlark), e.typ)
	case full == "torchx.specs":
		return primary(p.predeclared("specs"), typ{})
	}
	return p.refuseName(n, full)
}

// retryPolicy is specs.RetryPolicy, whose members are texts with a text of their own.
const retryPolicy = "RetryPolicy"

// specsName ports torchx.specs.NAME.
func (p *porter) specsName(n *node, name string) value {
	member := strings.TrimSuffix(name, ".value")
	full := "specs." + member
	if p.known[full] == "" {
		among := slices.DeleteFunc(slices.Sorted(maps.Keys(p.known)), func(k string) bool { return !strings.HasPrefix(k, "specs.") })
		return p.fail(n, "%s has no counterpart in a component file.%s", full, suggest.Hint(full, among))
	}
	t := constants()["torchx."+full].typ
	switch {
	case member == retryPolicy:
		t = typ{class: aClass, spec: retryPolicy}
	case strings.HasPrefix(member, retryPolicy+"."):
		t = typ{class: aStr, loose: name == member, spec: retryPolicy}
	case strings.HasPrefix(member, "macros."):
		t = of(aStr)
	}
	return primary(p.predeclared(full), t)
}
