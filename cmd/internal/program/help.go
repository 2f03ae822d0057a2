package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/ui"
)

// helpColumn is the column where explanations begin in help.
const helpColumn = 26

// HelpText returns what --help prints, of one command or of the program.
func HelpText(app *cli.App, command string, width int) string {
	if c := FindCommand(app.Commands, command); c != nil {
		return CommandHelp(c, command, width)
	}
	return Overview(app, width)
}

// FindCommand returns the command with a full name, such as "component test"; nil if no
// command has it.
func FindCommand(commands []*cli.Command, name string) *cli.Command {
	first, rest, inGroup := strings.Cut(name, " ")
	for _, c := range commands {
		switch {
		case !c.HasName(first):
		case inGroup:
			return FindCommand(c.Subcommands, rest)
		default:
			return c
		}
	}
	return nil
}

// CommandHelp returns what `torchx NAME --help` prints; name includes the command's group.
// UsageText holds the line of usage and then the examples.
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

// usageLines returns a line of usage, broken between words and [parts] where the screen is
// too narrow. Continuations are indented to the first argument.
func usageLines(begin, usage string, width int) string {
	var parts []string
	for word := range strings.FieldsSeq(usage) {
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

// Indent indents text by two columns.
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
// explanation; ok is false for a hidden flag.
func FlagText(f cli.Flag) (label, usage string, ok bool) {
	names := make([]string, len(f.Names()))
	for i, n := range f.Names() {
		names[i] = grammar.Spelling(n)
	}
	slices.SortStableFunc(names, func(a, b string) int { return dashCount(a) - dashCount(b) })
	d := grammar.Describe(f)
	label = strings.Join(names, ", ")
	if d.TakesValue {
		label += " " + d.Placeholder
	}
	return label, d.Usage, !d.Hidden
}

// dashCount returns the number of leading dashes, which sorts short names first.
func dashCount(name string) int { return len(name) - len(strings.TrimLeft(name, "-")) }

// HelpEntry writes a label and its explanation, on the next line if the label is long.
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

// Group makes a command with subcommands print its help if none is given.
func (f *Factory) Group(c *cli.Command) *cli.Command {
	c.Action = func(ctx *cli.Context) error {
		return f.Print(CommandHelp(c, CommandName(ctx), ui.TerminalWidth(f.Out)))
	}
	return c
}
