package program

import (
	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/ui"
)

// Group completes a command that has sub-commands: alone it prints its help.
func (f *Factory) Group(c *cli.Command) *cli.Command {
	c.Action = func(*cli.Context) error { return f.Print(CommandHelp(c, c.Name, ui.TerminalWidth(f.Out))) }
	return c
}
