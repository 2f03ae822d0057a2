package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// trialObject is an element of `sweep --dryrun --json`.
type trialObject struct {
	Trial  int              `json:"trial"`
	Params spec.Map[string] `json:"params"`
	Seed   int64            `json:"seed"`
	Args   []string         `json:"args"`
	Plan   *runner.Planned  `json:"plan"`
}

// paramMap returns parameters as a JSON object.
func paramMap(params []sweep.Param) spec.Map[string] {
	m := make(spec.Map[string], len(params))
	for i, param := range params {
		m[i] = spec.Entry[string]{Key: param.Name, Value: param.Value}
	}
	return m
}

// print prints the trials of a dry run. All are checked before the first is printed.
func (p *preparation) print(ctx context.Context) error {
	all, err := p.trials(ctx)
	if err != nil {
		return err
	}
	if p.options.json {
		return p.printJSON(ctx)
	}
	tab := &ui.Table{Header: []string{"TRIAL"}}
	var params []string
	for _, param := range all[0].Params {
		params = append(params, ui.OneLine(param.Name))
	}
	tab.Header = append(append(tab.Header, params...), "SEED")
	for i := range all {
		t := &all[i]
		row := []ui.Cell{ui.NewCell(strconv.Itoa(t.Number), "")}
		for _, param := range t.Params {
			row = append(row, ui.NewCell(p.paramText(param), ""))
		}
		tab.Add(append(row, ui.NewCell(strconv.FormatInt(t.Seed, 10), ""))...)
	}
	return p.PrintTable(tab, func(width int) { ui.FitParams(tab, params, width) })
}

// printJSON plans the trials once more and prints each plan, so that only one is in memory.
func (p *preparation) printJSON(ctx context.Context) error {
	array := ui.ArrayWriter{W: p.Out}
	err := p.each(ctx, func(t *sweep.Trial, planned *runner.Planned) error {
		text, err := indented(trialObject{
			Trial: t.Number, Params: paramMap(t.Params), Seed: t.Seed, Args: t.Args, Plan: planned,
		})
		if err != nil {
			return err
		}
		return array.Add(text)
	})
	if err != nil {
		return err
	}
	return array.End()
}

// indented returns an element of an array as JSON.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("  ", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
