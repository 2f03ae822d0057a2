package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/ui"
)

// Columns of the overview, which fits 80x24 with the prompt below it.
const (
	groupColumn  = 8
	nameColumn   = 11
	columnWidth  = 36 // name and summary of one command
	overviewSize = groupColumn + 2*columnWidth
)

const overviewEnd = `
start   torchx run utils.echo --msg hello
help    torchx COMMAND --help, torchx help topics, torchx help options
`

// InGroup puts commands into a group of the overview.
func InGroup(name string, commands ...Command) []Command {
	for i := range commands {
		commands[i] = commands[i].with(func(c *cli.Command) { c.Category = name })
	}
	return commands
}

// Together makes related commands one entry of the overview, in which names and usage describe
// them all. It returns them in order.
func Together(names, usage string, commands ...Command) []Command {
	for i := range commands {
		text := besides
		if i == 0 {
			text = fmt.Sprintf("%-*s%s", nameColumn, names, usage)
		}
		commands[i] = commands[i].with(func(c *cli.Command) { c.ArgsUsage = text })
	}
	return commands
}

// besides marks a command that is part of another's entry.
const besides = "-"

// Overview returns what `torchx --help` prints: the commands by group, in two columns if the
// screen has room for them.
func Overview(app *cli.App, width int) string {
	var b strings.Builder
	b.WriteString("usage: torchx COMMAND [options]\n\n")
	shown := slices.DeleteFunc(slices.Clone(app.Commands), func(c *cli.Command) bool { return c.ArgsUsage == besides })
	for commands := shown; len(commands) > 0; {
		n := 1
		for n < len(commands) && commands[n].Category == commands[0].Category {
			n++
		}
		if commands[0].Category != "" {
			b.WriteString(overviewGroup(commands[:n], width))
		}
		commands = commands[n:]
	}
	return b.String() + overviewEnd
}

func overviewGroup(commands []*cli.Command, width int) string {
	rows := len(commands)
	if width >= overviewSize {
		rows = (rows + 1) / 2
	}
	var b strings.Builder
	for i, left := range commands[:rows] {
		title := ""
		if i == 0 {
			title = left.Category
		}
		line := fmt.Sprintf("%-*s%s", groupColumn, title, overviewEntry(left))
		if rows+i < len(commands) {
			line = fmt.Sprintf("%-*s%s", groupColumn+columnWidth, line,
				overviewEntry(commands[rows+i]))
		}
		b.WriteString(ui.CutText(line, width, "…") + "\n")
	}
	return b.String()
}

func overviewEntry(c *cli.Command) string {
	if c.ArgsUsage != "" {
		return c.ArgsUsage
	}
	return fmt.Sprintf("%-*s%s", nameColumn, c.Name, c.Usage)
}
