package starlint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/humanize"
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
	plain     bool          // doc has no escapes, so its source is its value
	names     map[string]bool
	left      []string // undocumented parameters
}

func (d *componentCheck) check() {
	d.doc = interp.Docstring(d.def.Body)
	params := interp.Params(d.def)
	for _, p := range params {
		if p.Star == "**" || p.Name == "help" {
			d.report(ruleKwargs, p.Ident, "a command line cannot set %s: use other parameters, or rename the function to _%s", p.Star+p.Name, d.def.Name.Name)
		}
	}
	d.returns()
	if d.doc == nil {
		d.report(ruleDocstring, d.def.Name, "component %s has no docstring: write one, or rename it to _%s if it is a helper", d.def.Name.Name, d.def.Name.Name)
		return
	}
	d.parsed = component.ParseDoc(d.doc.Value.(string))
	d.plain = !strings.Contains(d.doc.Raw, `\`)
	d.names = map[string]bool{}
	for _, p := range params {
		d.names[p.Name] = true
		d.param(p)
	}
	for _, a := range d.parsed.Args {
		if !d.names[a.Name] {
			d.unknownArgument(a)
		}
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
		d.left = append(d.left, p.Name)
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

// badType reports an unknown type. It is an error, because the component cannot run.
func (d *componentCheck) badType(a component.DocArg, err error) {
	start, end, exact := d.inDoc(a, a.Type)
	f := Finding{Rule: ruleType, Severity: Error, Start: start, End: end, Message: fmt.Sprintf("argument %s: %v", humanize.Text(a.Name), err)}
	if better := betterType(a.Type); better != "" && exact {
		f.Fix = &Fix{"write " + better, []Edit{{start, end, better}}}
	}
	d.add(f)
}

// maxHints bounds the findings and names for which a similar name is searched, which is slow.
const maxHints = 100

// unknownArgument reports the description of a parameter that does not exist.
func (d *componentCheck) unknownArgument(a component.DocArg) {
	start, end, exact := d.inDoc(a, a.Name)
	f := Finding{
		Rule: ruleNoSuch, Severity: Warning, Start: start, End: end,
		Message: fmt.Sprintf("the docstring of %s describes %s, which is not an argument",
			humanize.Text(d.def.Name.Name), humanize.Text(a.Name)),
	}
	if len(d.findings) < maxHints && len(d.left) < maxHints {
		if better, ok := humanize.Closest(a.Name, d.left); ok {
			f.Message += ". Did you mean " + better + "?"
			if exact {
				f.Fix = &Fix{"write " + better, []Edit{{start, end, better}}}
			}
		}
	}
	d.add(f)
}

// inDoc returns the position of an argument's name or, after it, its type in the docstring. It
// returns the opening quotes and exact = false if the docstring contains escapes.
func (d *componentCheck) inDoc(a component.DocArg, text string) (start, end Position, exact bool) {
	opening := d.position(int(d.doc.TokenPos.Line), int(d.doc.TokenPos.Col))
	if line := int(d.doc.TokenPos.Line) + a.Line - 1; d.plain {
		entry := d.Line(line)
		from := strings.Index(entry, a.Name)
		if from >= 0 && text != a.Name {
			after := from + len(a.Name)
			if from = strings.Index(entry[after:], text); from >= 0 {
				from += after
			}
		}
		if from >= 0 {
			from += d.Start(line)
			return d.at(from), d.at(from + len(text)), true
		}
	}
	return opening, d.wordEnd(opening), false
}

// spellings maps types of other languages.
func spellings() map[string]string {
	return map[string]string{
		"string": "str", "text": "str", "integer": "int", "number": "float", "double": "float",
		"boolean": "bool", "array": "list", "map": "dict", "object": "dict", "mapping": "dict",
	}
}

// betterType returns the type that was probably meant, or "".
func betterType(text string) string {
	word := strings.ToLower(strings.TrimSpace(text))
	better, ok := spellings()[word]
	if !ok {
		words := append(slices.Sorted(maps.Values(spellings())), "int")
		if better, ok = humanize.Closest(word, slices.Compact(words)); !ok {
			return ""
		}
	}
	if _, err := component.ParseType(better); err != nil || better == text {
		return ""
	}
	return better
}

// resourceIndex is the index of resource among the positional arguments of specs.Role.
const resourceIndex = 9

// roles reports specs.Role without resource: `run --strict` rejects it, and a cluster has to guess.
func (l *linter) roles() {
	syntax.Walk(l.file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || !isRole(call.Fn) || givesResource(call.Args) {
			return true
		}
		start, end := l.span(call.Fn)
		l.add(Finding{
			Rule: ruleResource, Severity: Warning, Start: start, End: end,
			Message: "specs.Role without resource: state what a replica needs, resource = specs.resource(cpu = 1, memMB = 1024) or specs.resource(h = NAME)",
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

// givesResource reports whether the arguments contain a resource other than None, or *args or
// **kwargs, which may contain one.
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
		if i == resourceIndex {
			return !isNone(a)
		}
	}
	return false
}

func isNone(e syntax.Expr) bool {
	id, ok := e.(*syntax.Ident)
	return ok && id.Name == "None"
}

// defaultOf reports a constant default that is not of the parameter's type.
func (d *componentCheck) defaultOf(p interp.Param, t component.Type) {
	v := analysis.ConstantValue(p.Default, d.constants)
	if v == nil {
		return
	}
	err := t.Check(v)
	if err == nil {
		return
	}
	start, end := d.span(p.Default)
	f := Finding{
		Rule: ruleDefault, Severity: Warning, Start: start, End: end,
		Message: fmt.Sprintf("the default of %s is not of its type %s: %v", p.Name, t.Brief(), err),
	}
	if _, ok := p.Default.(*syntax.Literal); ok {
		if text := t.Literal(v); text != "" {
			f.Fix = &Fix{"write " + text, []Edit{{start, end, text}}}
		}
	}
	d.add(f)
}
