package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/ui"
)

// helpColumn is where explanations begin in help.
const helpColumn = 26

// HelpText is what --help prints, of one command or of the program.
func HelpText(app *cli.App, command string, width int) string {
	if c := FindCommand(app.Commands, command); c != nil {
		return CommandHelp(c, command, width)
	}
	return programHelp(app, width)
}

// FindCommand returns the command of that name, with its group's: "component test".
func FindCommand(commands []*cli.Command, name string) *cli.Command {
	first, rest, inGroup := strings.Cut(name, " ")
	for _, c := range commands {
		switch {
		case c.Name != first:
		case inGroup:
			return FindCommand(c.Subcommands, rest)
		default:
			return c
		}
	}
	return nil
}

// programHelp is `torchx --help`.
func programHelp(app *cli.App, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s [options] COMMAND ...\n\n%s\n\ncommands:\n", app.Name, app.Usage)
	for _, c := range app.Commands {
		if !c.Hidden {
			HelpEntry(&b, strings.Join(c.Names(), ", "), c.Usage, width)
		}
	}
	b.WriteString("\noptions:\n")
	helpFlags(&b, app.Flags, width)
	HelpEntry(&b, "-h, --help", "print this help and exit", width)
	b.WriteString("\nexamples:\n" + Indent(programExamples) + "\n`torchx COMMAND --help` tells more about a command.\n")
	return b.String()
}

const programExamples = `torchx run utils.echo --msg hello
torchx run components/dist.star:ddp --nnodes 2
torchx list
torchx log -t -
`

// CommandHelp is `torchx COMMAND --help`; name has that of the command's group, too. A command's Description is its
// explanation; its UsageText holds the line of usage and then examples.
func CommandHelp(c *cli.Command, name string, width int) string {
	usage, examples, _ := strings.Cut(c.UsageText, "\n")
	var b strings.Builder
	b.WriteString(usageLines("usage: torchx "+name+" ", usage, width) + "\n")
	for _, l := range ui.WrapText(c.Description, width) {
		b.WriteString(l + "\n")
	}
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "\nalias: %s\n", strings.Join(c.Aliases, ", "))
	}
	if len(c.Subcommands) > 0 {
		b.WriteString("\ncommands:\n")
		for _, sub := range c.Subcommands {
			HelpEntry(&b, strings.Join(sub.Names(), ", "), sub.Usage, width)
		}
	}
	b.WriteString("\noptions:\n")
	helpFlags(&b, c.Flags, width)
	HelpEntry(&b, "-h, --help", "print this help and exit", width)
	if examples != "" {
		b.WriteString("\nexamples:\n" + Indent(examples))
	}
	return b.String()
}

// usageLines is a line of usage, broken between its [parts] and words where the
// screen is too narrow, and continued below where it began.
func usageLines(begin, usage string, width int) string {
	var parts []string
	for _, word := range strings.Fields(usage) {
		if n := len(parts); n > 0 && strings.Count(parts[n-1], "[") > strings.Count(parts[n-1], "]") {
			parts[n-1] += " " + word
			continue
		}
		parts = append(parts, word)
	}
	var b strings.Builder
	line := begin
	for _, part := range parts {
		if len(line) > len(begin) && ui.TextWidth(line)+ui.TextWidth(part) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", len(begin))
		}
		line += part + " "
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
	return b.String()
}

// Indent moves text two columns to the right.
func Indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func helpFlags(b *strings.Builder, flags []cli.Flag, width int) {
	for _, f := range flags {
		if label, usage, ok := FlagText(f); ok {
			HelpEntry(b, label, usage, width)
		}
	}
}

// FlagText returns the names of a flag with the placeholder of its value, and its
// explanation. ok is false for a hidden flag.
func FlagText(f cli.Flag) (label, usage string, ok bool) {
	d, ok := f.(cli.DocGenerationFlag)
	if v, hides := f.(cli.VisibleFlag); !ok || hides && !v.IsVisible() {
		return "", "", false
	}
	placeholder, usage := UnquoteUsage(d.GetUsage())
	names := make([]string, len(f.Names()))
	for i, n := range f.Names() {
		names[i] = grammar.Spelling(n)
	}
	slices.SortStableFunc(names, func(a, b string) int { return dashCount(a) - dashCount(b) })
	label = strings.Join(names, ", ")
	if d.TakesValue() {
		label += " " + placeholder
	}
	return label, usage, true
}

// dashCount puts short names first.
func dashCount(name string) int { return len(name) - len(strings.TrimLeft(name, "-")) }

// UnquoteUsage takes the `PLACEHOLDER` out of a flag's explanation.
func UnquoteUsage(usage string) (placeholder, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	if !ok {
		return "VALUE", usage
	}
	placeholder, after, _ := strings.Cut(rest, "`")
	return placeholder, before + placeholder + after
}

// HelpEntry prints a label and, beside or below it, its explanation.
func HelpEntry(b *strings.Builder, label, text string, width int) {
	lines := ui.WrapText(text, width-helpColumn)
	first := "  " + label
	if n := ui.TextWidth(first); n+2 <= helpColumn {
		first += strings.Repeat(" ", helpColumn-n) + lines[0]
		lines = lines[1:]
	}
	b.WriteString(first + "\n")
	for _, l := range lines {
		b.WriteString(strings.Repeat(" ", helpColumn) + l + "\n")
	}
}

// Group completes a command that has sub-commands: alone it prints its help.
func (f *Factory) Group(c *cli.Command) *cli.Command {
	c.Action = func(*cli.Context) error { return f.Print(CommandHelp(c, c.Name, ui.TerminalWidth(f.Out))) }
	return c
}
