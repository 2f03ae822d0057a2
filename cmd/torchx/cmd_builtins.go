package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"
)

func (t *tool) builtinsCommand() *cli.Command {
	var name string
	return &cli.Command{
		Name:        "builtins",
		Usage:       "list the built-in components or print the source of one",
		UsageText:   "[--print NAME]\ntorchx builtins\ntorchx builtins --print dist.ddp",
		Description: "List the components that come with torchx, or print the source of one to start your own from.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "print", Usage: "print the source of the component `NAME`", Destination: &name},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.IsSet("print") {
				return t.printBuiltin(name)
			}
			return t.listBuiltins(c.Context)
		},
	}
}

func (t *tool) printBuiltin(name string) error {
	loader, err := t.loader()
	if err != nil {
		return err
	}
	source, err := loader.Source(name)
	if err != nil {
		return err
	}
	return t.print(source)
}

func (t *tool) listBuiltins(ctx context.Context) error {
	loader, err := t.loader()
	if err != nil {
		return err
	}
	list, err := loader.Builtins(ctx)
	if err != nil {
		return err
	}
	tab := table{}
	for i, s := range list {
		tab.add(cell{fmt.Sprintf("%2d. %s", i+1, s.Name), ""}, cell{s.Doc, ansiDim})
	}
	if err := t.printf("Found %d builtin components:\n", len(list)); err != nil {
		return err
	}
	return tab.write(t.out, t.outStyle)
}
