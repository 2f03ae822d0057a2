package starlint

import (
	"fmt"

	"go.starlark.net/syntax"

	"torchx/starlark/analysis"
	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// defaultOf reports a constant default that is not of the parameter's type.
func (d *componentCheck) defaultOf(p interp.Param, t component.Type) {
	v := analysis.ConstantValue(p.Default, d.constants)
	if v == nil {
		return
	}
	err := t.Fits(v)
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
