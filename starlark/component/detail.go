package component

import (
	"strings"

	"go.starlark.net/starlark"

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
	lines := interp.NewLines(string(m.Source))
	d.Line, d.Source = int(def.Def.Line), linesOf(&lines, def)
	for _, p := range interp.Params(def) {
		if p.Default != nil {
			from, to := p.Default.Span()
			text := lines.Text[lines.Offset(int(from.Line), int(from.Col)):lines.Offset(int(to.Line), int(to.Col))]
			d.Defaults[p.Name] = strings.Join(strings.Fields(text), " ")
		}
	}
	return d
}
