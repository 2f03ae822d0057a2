package trials

import (
	"slices"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/runtime/sweep/space"
)

// ParamText returns the value of a parameter in one line, hidden if it looks like a secret.
func ParamText(c *ui.Console, param space.Param) string {
	if c.ShowSecrets {
		return ui.FoldText(param.Value)
	}
	rules, _ := c.Rules() // commands that show values report a bad pattern
	return ui.FoldText(rules.Value(param.Name, param.Value))
}

// ParamsText returns parameters as "lr=0.1 bs=32".
func ParamsText(c *ui.Console, params []space.Param) string {
	texts := make([]string, len(params))
	for i, param := range params {
		texts[i] = param.Name + "=" + ParamText(c, param)
	}
	return strings.Join(texts, " ")
}

// ParamMap returns parameters as a JSON object.
func ParamMap(params []space.Param) spec.Map[string] {
	m := make(spec.Map[string], len(params))
	for i, param := range params {
		m[i] = spec.Entry[string]{Key: param.Name, Value: param.Value}
	}
	return m
}

// paramWidth is the width that a column of parameters keeps as long as columns can be dropped.
const paramWidth = 8

// FitParams makes a table at most width columns wide: it shortens the columns of parameters, the
// widest first, then drops spare columns, then those of parameters from the last.
func FitParams(tab *ui.Table, params []string, width int, spare ...string) {
	for range params {
		tab.Shorten(tab.Widest(params), width, paramWidth)
	}
	tab.Fit(width, spare...)
	params = slices.Clone(params)
	slices.Reverse(params)
	tab.Fit(width, params...)
}
