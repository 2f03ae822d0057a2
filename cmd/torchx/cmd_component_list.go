package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/starlark/component"
)

func (t *tool) componentListCommand() *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:      "list",
		Usage:     "list the components that can be run here",
		UsageText: "[--json]\ntorchx component list",
		Description: "List the components of the project (components/*.star of its root), of its libraries and the built-in ones, with the first " +
			"line of their docstrings. A component of the project hides a built-in one of the same name. Nothing is run.",
		Flags: []cli.Flag{jsonFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return t.componentList(c.Context, asJSON)
		},
	}
}

// listedComponent is an element of `component list --json`.
type listedComponent struct {
	Name   string           `json:"name"`
	Origin component.Origin `json:"origin"`
	Doc    string           `json:"doc"`
}

func (t *tool) componentList(ctx context.Context, asJSON bool) error {
	loader, err := t.loader()
	if err != nil {
		return err
	}
	list, problems, err := loader.List(ctx)
	if err != nil {
		return err
	}
	for _, p := range problems {
		t.warn("%v", p)
	}
	if asJSON {
		all := []listedComponent{}
		for _, l := range list {
			all = append(all, listedComponent{l.Name, l.Origin, l.Doc})
		}
		return t.printJSON(all)
	}
	tab := table{header: []string{"COMPONENT", "FROM", "DESCRIPTION"}}
	for _, l := range list {
		color := ""
		if l.Origin == component.OriginBuiltin {
			color = ansiDim
		}
		tab.add(cell{l.Name, ""}, cell{string(l.Origin), color}, cell{l.Doc, ansiDim})
	}
	if width := screenWidth(t.out); width > 0 {
		tab.cut(width)
	}
	return tab.write(t.out, t.outStyle)
}
