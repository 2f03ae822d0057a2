package component

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/component"
)

func newList(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:  "list",
		Usage: "list the components that you can run here",
		UsageText: "[--json]\n" +
			"torchx component list",
		Description: "List the components of the project (components/*.star below its root), of its libraries and the built-in ones, with " +
			"the first line of their docstrings. A component of the project hides a built-in one of the same name. No file is " +
			"evaluated.",
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return runList(c.Context, f, asJSON)
		},
	}
}

// listedComponent is an element of `component list --json`.
type listedComponent struct {
	Name   string           `json:"name"`
	Origin component.Origin `json:"origin"`
	Doc    string           `json:"doc"`
}

func runList(ctx context.Context, f *program.Factory, asJSON bool) error {
	loader, err := f.Loader()
	if err != nil {
		return err
	}
	list, problems, err := loader.List(ctx)
	if err != nil {
		return err
	}
	for _, p := range problems {
		f.Warn("%v", p)
	}
	if asJSON {
		all := []listedComponent{}
		for _, l := range list {
			all = append(all, listedComponent{l.Name, l.Origin, l.Doc})
		}
		return f.PrintJSON(all)
	}
	tab := ui.Table{Header: []string{"COMPONENT", "FROM", "DESCRIPTION"}}
	for _, l := range list {
		color := ""
		if l.Origin == component.OriginBuiltin {
			color = ui.AnsiDim
		}
		tab.Add(ui.NewCell(l.Name, ""), ui.NewCell(string(l.Origin), color),
			ui.NewCell(l.Doc, ui.AnsiDim))
	}
	return f.PrintTable(&tab, tab.Cut)
}
