package migrate

import (
	"fmt"
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
	known    map[string]string  // the predeclared names that ports may use, "specs.Role", to their signatures
	// unproved are functions of which it is not known that they return what their
	// annotation says.
	unproved map[string]bool
	usages   map[*pyFunctionDef]*usage

	scope *scope // nil at the top of the file
	depth int    // of expressions
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
	name   string         // in the port
	def    *pyFunctionDef // of a function
	enum   *enum          // of a class of enumerated values
	typ    typ            // of a constant
	broken string         // why it could not be ported
	keeps  map[string]bool
}

// scope is a function, or a lambda or comprehension in it, that is being ported.
type scope struct {
	def    *pyFunctionDef
	parent *scope
	types  map[string]typ // of parameters and local variables
}

func newPorter(name string, d *dumped) *porter {
	p := &porter{
		name: name, comments: d.Comments, stars: d.Stars, imports: d.Imports, globals: map[string]*global{}, bound: map[string]bool{},
		known: map[string]string{}, unproved: map[string]bool{}, usages: map[*pyFunctionDef]*usage{},
		out: output{prelude: map[string]bool{}, aliases: map[string]bool{}, loads: map[string]string{}},
	}
	for name, full := range p.imports {
		p.imports[name] = canonical(full)
	}
	p.checkStars(0, math.MaxInt)
	for full, doc := range specmodule.Docs() {
		p.known[full] = doc.Signature
	}
	for _, s := range d.body {
		walk(s, func(n node) bool {
			for _, name := range n.at().Binds {
				p.bound[name] = true
			}
			return true
		})
	}
	return p
}

// checkStars finds `from … import *` in some lines.
func (p *porter) checkStars(first, last int) {
	for _, s := range p.stars {
		if s.Module != "typing" && first <= s.Line && s.Line <= last {
			msg := "`from " + s.Module + " import *` brings names that are not known: import them one by one"
			p.out.problems = append(p.out.problems, Problem{p.name, s.Line, msg})
		}
	}
}

// fail notes a place that cannot be ported, and returns something in its place.
func (p *porter) fail(n node, format string, args ...any) value {
	p.out.problems = append(p.out.problems, Problem{p.name, n.at().Line, fmt.Sprintf(format, args...)})
	return primary(text("None"), typ{})
}

func (p *porter) note(line int, format string, args ...any) {
	p.out.notes = append(p.out.notes, Problem{p.name, line, fmt.Sprintf(format, args...)})
}

// within ports what has variables of its own, such as a comprehension.
func (p *porter) within(types map[string]typ, port func()) {
	outer := p.scope
	p.scope = &scope{parent: outer, types: types}
	if outer != nil {
		p.scope.def = outer.def
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
func (p *porter) full(n node) string {
	switch n := n.(type) {
	case *pyName:
		if p.isFree(n.ID) {
			return p.imports[n.ID]
		}
	case *pyAttribute:
		if base := p.full(n.Value); base != "" {
			return canonical(base + "." + n.Attr)
		}
	}
	return ""
}

// canonical gives things that have several names in TorchX and Python one.
func canonical(full string) string {
	for _, from := range []string{"torchx.specs.api.", "torchx.specs.builders.", "torchx.specs.file_linter."} {
		if rest, ok := strings.CutPrefix(full, from); ok {
			return "torchx.specs." + rest
		}
	}
	if rest, ok := strings.CutPrefix(full, "posixpath."); ok {
		return "os.path." + rest
	}
	if full == "torchx.specs.api" {
		return "torchx.specs"
	}
	return full
}

// predeclared returns the name that a predeclared module or function has in the
// port: another one if the file itself uses it for something else.
func (p *porter) predeclared(full string) string {
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
func (p *porter) imported(n node, full string) value {
	rest, isSpec := strings.CutPrefix(full, "torchx.specs.")
	component, isComponent := strings.CutPrefix(full, "torchx.components.")
	e, ok := constants()[full]
	if !ok {
		e, ok = functions()[full]
		e.typ = typ{}
	}
	switch {
	case isSpec && rest != "named_resources":
		return p.specsName(n, rest)
	case ok && isComponent:
		name := p.unbound(strings.ReplaceAll(component, ".", "_"))
		p.out.loads[component] = name
		return primary(text(name), typ{})
	case ok:
		return primary(text(p.predeclared(e.starlark)), e.typ)
	case full == "torchx.specs":
		return primary(text(p.predeclared("specs")), typ{})
	}
	return p.fail(n, "%s has no counterpart in a component file%s", full, advice(full))
}

// specsName ports torchx.specs.NAME.
func (p *porter) specsName(n node, name string) value {
	name = strings.TrimPrefix(name, "overlays.overlays.")
	member := strings.TrimSuffix(name, ".value")
	full := "specs." + member
	if p.known[full] == "" {
		var among []string
		for k := range p.known {
			if strings.HasPrefix(k, "specs.") {
				among = append(among, k)
			}
		}
		slices.Sort(among)
		return p.fail(n, "%s has no counterpart in a component file.%s", full, suggest.Hint(full, among))
	}
	t := constants()["torchx."+full].typ
	switch {
	case member == retryPolicy:
		t = typ{spec: retryPolicy}
	case strings.HasPrefix(member, retryPolicy+".") && name == member:
		t = typ{class: aStr, spec: retryPolicy}
	case strings.HasPrefix(member, retryPolicy+"."), strings.HasPrefix(member, "macros."):
		t = of(aStr)
	}
	return primary(text(p.predeclared(full)), t)
}

// resultOf is the type of what an imported function returns.
func resultOf(full string) typ {
	if strings.HasPrefix(full, "torchx.components.") {
		return typ{class: aSpec, spec: "AppDef"}
	}
	return functions()[full].typ
}

// advice says what to do instead of a thing of Python's.
func advice(full string) string {
	root, _, _ := strings.Cut(strings.TrimLeft(full, "."), ".")
	switch {
	case strings.HasPrefix(full, "."):
		return ": port that file too, and load() it"
	case slices.Contains([]string{"os", "pathlib", "subprocess", "shutil", "socket", "getpass"}, root):
		return ": a component is a pure function; take the value as an argument"
	case slices.Contains([]string{"random", "time", "datetime", "uuid"}, root):
		return ": a component gives the same app each time; take the value as an argument"
	}
	return ""
}
