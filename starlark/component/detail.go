package component

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/starlark/interp"
)

// Detail is what the text of its file tells about a component.
type Detail struct {
	// Line is where the definition begins, from 1; 0 if it is in another file.
	Line int
	// Source is the text of the definition, "" if it is in another file.
	Source string
	// Defaults are the defaults of parameters as they are written, by name.
	Defaults map[string]string
	// Module is the docstring of the file.
	Module string
}

// Detail reads the component's file again. It never fails: unknown fields stay empty.
func (c *Component) Detail() Detail {
	if c.detail == nil {
		return Detail{}
	}
	return c.detail()
}

// detailOf describes a function of a module.
func detailOf(m *interp.Module, fn *starlark.Function) Detail {
	d := Detail{Defaults: map[string]string{}}
	file := m.Syntax()
	if file == nil {
		return d
	}
	if literal := interp.Docstring(file.Stmts); literal != nil {
		d.Module = strings.TrimSpace(strings.Join(dedent(literal.Value.(string)), "\n"))
	}
	def := findDef(file, fn)
	if def == nil {
		return d
	}
	lines := strings.SplitAfter(string(m.Source), "\n")
	d.Line, d.Source = int(def.Def.Line), linesOf(lines, def)
	for _, p := range def.Params {
		b, ok := p.(*syntax.BinaryExpr)
		if !ok {
			continue
		}
		from, to := b.Y.Span()
		d.Defaults[b.X.(*syntax.Ident).Name] = cutSpan(lines, from, to)
	}
	return d
}

// cutSpan is the text between two places, in one line. Columns count characters.
func cutSpan(lines []string, from, to syntax.Position) string {
	var b strings.Builder
	for n := from.Line; n <= to.Line && int(n) <= len(lines); n++ {
		line := []rune(lines[n-1])
		first, last := 0, len(line)
		if n == from.Line {
			first = min(int(from.Col)-1, len(line))
		}
		if n == to.Line {
			last = min(int(to.Col)-1, len(line))
		}
		b.WriteString(string(line[first:max(first, last)]))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
