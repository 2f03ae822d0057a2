package main

import (
	"github.com/urfave/cli/v2"
)

// componentCommand is the group of commands for people who write components.
func (t *tool) componentCommand() *cli.Command {
	return t.group(&cli.Command{
		Name:  "component",
		Usage: "list, write, test, format, lint and document components",
		UsageText: "COMMAND ...\n" +
			"torchx component new train\n" +
			"torchx component test\n" +
			"torchx component fmt --check components\n" +
			"torchx component lint components/train.star",
		Description: "Tools for the files that components are written in. Those that take paths take files and folders, with all " +
			"below them; without any they take the working folder.",
		Subcommands: []*cli.Command{
			t.componentListCommand(), t.componentShowCommand(), t.componentResourcesCommand(), t.componentNewCommand(), t.componentDocCommand(),
			t.componentTestCommand(), t.componentFmtCommand(), t.componentLintCommand(),
		},
	})
}

// group completes a command that has sub-commands: alone it prints its help.
func (t *tool) group(c *cli.Command) *cli.Command {
	c.Action = func(*cli.Context) error { return t.print(commandHelp(c, c.Name, terminalWidth(t.out))) }
	return c
}
