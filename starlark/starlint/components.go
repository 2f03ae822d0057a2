package starlint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/suggest"
	"torchx/starlark/analysis"
	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// components checks the functions that a command line can call.
func (l *linter) components() {
	constants := analysis.ConstantsOf(l.file)
	for _, s := range l.file.Stmts {
		if def, ok := s.(*syntax.DefStmt); ok && !strings.HasPrefix(def.Name.Name, "_") {
			(&componentCheck{linter: l, def: def, constants: constants}).check()
		}
	}
}

// componentCheck checks one component.
type componentCheck struct {
	*linter
	def       *syntax.DefStmt
	constants starlark.StringDict
	doc       *syntax.Literal
	parsed    component.Doc // of doc
}

func (d *componentCheck) check() {
	d.doc = interp.Docstring(d.def.Body)
	params := interp.Params(d.def)
	for _, p := range params {
		if p.Star == "**" || p.Name == "help" {
			d.report(ruleKwargs, p.Ident, "a command line cannot give %s: name the parameters otherwise, or call the function _%s", p.Star+p.Name, d.def.Name.Name)
		}
	}
	d.returns()
	if d.doc == nil {
		d.report(ruleDocstring, d.def.Name, "component %s has no docstring: write one, or call it _%s if it is a helper", d.def.Name.Name, d.def.Name.Name)
		return
	}
	d.parsed = component.ParseDoc(d.doc.Value.(string))
	for _, p := range params {
		d.param(p)
	}
	for _, a := range d.parsed.Args {
		d.checkDescribed(a, params)
	}
}

func (d *componentCheck) report(rule string, at syntax.Node, format string, args ...any) {
	start, end := d.span(at)
	d.add(Finding{Rule: rule, Severity: Warning, Start: start, End: end, Message: fmt.Sprintf(format, args...)})
}

// param checks the documentation and default of a parameter.
func (d *componentCheck) param(p interp.Param) {
	a, ok := d.parsed.Arg(p.Name)
	if !ok {
		if p.Star != "**" {
			d.report(ruleUndocumented, p.Ident, "argument %s of %s is not in the Args: section of its docstring", p.Star+p.Name, d.def.Name.Name)
		}
		return
	}
	if a.Type == "" {
		return
	}
	t, err := component.ParseType(a.Type)
	if err != nil {
		d.badType(a, err)
		return
	}
	if p.Default != nil {
		d.defaultOf(p, t)
	}
}

// badType reports an unknown type. It is an error: the component cannot run.
func (d *componentCheck) badType(a component.DocArg, err error) {
	start, end := d.inDoc(a, a.Type)
	f := Finding{Rule: ruleType, Severity: Error, Start: start, End: end, Message: fmt.Sprintf("argument %s: %v", a.Name, err)}
	if better := betterType(a.Type); better != "" {
		f.Fix = &Fix{"write " + better, []Edit{{start, end, better}}}
	}
	d.add(f)
}

// checkDescribed reports the description of a missing parameter.
func (d *componentCheck) checkDescribed(a component.DocArg, params []interp.Param) {
	var names []string
	for _, p := range params {
		if p.Name == a.Name {
			return
		}
		if _, described := d.parsed.Arg(p.Name); !described {
			names = append(names, p.Name)
		}
	}
	start, end := d.inDoc(a, a.Name)
	f := Finding{
		Rule: ruleNoSuch, Severity: Warning, Start: start, End: end,
		Message: fmt.Sprintf("the docstring of %s describes %s, which is no argument.%s", d.def.Name.Name, a.Name, suggest.Hint(a.Name, names)),
	}
	if better, ok := suggest.Closest(a.Name, names); ok {
		f.Fix = &Fix{"write " + better, []Edit{{start, end, better}}}
	}
	f.Message = strings.TrimSuffix(f.Message, ".")
	d.add(f)
}

// inDoc is the position of a text in the entry of an argument, or of the docstring's opening
// quotes.
func (d *componentCheck) inDoc(a component.DocArg, text string) (start, end Position) {
	line := int(d.doc.TokenPos.Line) + a.Line
	if at := strings.Index(d.Line(line-1), text); at >= 0 {
		from := d.Start(line-1) + at
		return d.at(from), d.at(from + len(text))
	}
	start = d.position(int(d.doc.TokenPos.Line), int(d.doc.TokenPos.Col))
	return start, d.wordEnd(start)
}

// spellings are names of types in other languages.
func spellings() map[string]string {
	return map[string]string{
		"string": "str", "text": "str", "integer": "int", "number": "float", "double": "float",
		"boolean": "bool", "array": "list", "map": "dict", "object": "dict", "mapping": "dict",
	}
}

// betterType is the type that was probably meant, "" if that is not clear.
func betterType(text string) string {
	word := strings.ToLower(strings.TrimSpace(text))
	better, ok := spellings()[word]
	if !ok {
		checkDescribed := append(slices.Sorted(maps.Values(spellings())), "int")
		if better, ok = suggest.Closest(word, slices.Compact(checkDescribed)); !ok {
			return ""
		}
	}
	if _, err := component.ParseType(better); err != nil || better == text {
		return ""
	}
	return better
}

// resourcePlace is the position of resource among the arguments of specs.Role.
const resourcePlace = 9

// roles reports specs.Role without resource: `run --strict` refuses it, and a cluster has to guess.
func (l *linter) roles() {
	syntax.Walk(l.file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || !isRole(call.Fn) || givesResource(call.Args) {
			return true
		}
		start, end := l.span(call.Fn)
		l.add(Finding{
			Rule: ruleResource, Severity: Warning, Start: start, End: end,
			Message: "specs.Role without resource: say what a replica needs, resource = specs.resource(cpu = 1, memMB = 1024) or specs.resource(h = NAME)",
		})
		return true
	})
}

func isRole(e syntax.Expr) bool {
	dot, ok := e.(*syntax.DotExpr)
	if !ok || dot.Name.Name != "Role" {
		return false
	}
	module, ok := dot.X.(*syntax.Ident)
	return ok && module.Name == "specs"
}

// givesResource reports whether the arguments have a resource that is not None, or may have one in
// *args.
func givesResource(args []syntax.Expr) bool {
	for i, a := range args {
		switch a := a.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				return true
			}
		case *syntax.BinaryExpr:
			if id, ok := a.X.(*syntax.Ident); ok && a.Op == syntax.EQ {
				if id.Name == "resource" {
					return !isNone(a.Y)
				}
				continue
			}
		}
		if i == resourcePlace {
			return !isNone(a)
		}
	}
	return false
}

func isNone(e syntax.Expr) bool {
	id, ok := e.(*syntax.Ident)
	return ok && id.Name == "None"
}
