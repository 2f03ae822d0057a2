package component

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// NewBuiltins returns the command `builtins`.
func NewBuiltins(f *program.Factory) *cli.Command {
	var name string
	return &cli.Command{
		Name:  "builtins",
		Usage: "list built-in components",
		UsageText: "[--print NAME]\n" +
			"torchx builtins\n" +
			"torchx builtins --print dist.ddp",
		Description: "List the components that come with torchx, or print the source of one as a starting point for your own.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "print", Usage: "print the source of the component `NAME`", Destination: &name},
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			if c.IsSet("print") {
				return printBuiltin(f, name)
			}
			return listBuiltins(c.Context, f)
		},
	}
}

func printBuiltin(f *program.Factory, name string) error {
	loader, err := f.Loader()
	if err != nil {
		return err
	}
	source, err := loader.Source(name)
	if err != nil {
		return err
	}
	return f.Print(source)
}

func listBuiltins(ctx context.Context, f *program.Factory) error {
	loader, err := f.Loader()
	if err != nil {
		return err
	}
	list, err := loader.Builtins(ctx)
	if err != nil {
		return err
	}
	tab := ui.Table{}
	for i, s := range list {
		tab.Add(ui.NewCell(fmt.Sprintf("%2d. %s", i+1, s.Name), ""), ui.NewCell(s.Doc, ui.AnsiDim))
	}
	if err := f.Printf("Found %d builtin components:\n", len(list)); err != nil {
		return err
	}
	return f.PrintTable(&tab, nil)
}
