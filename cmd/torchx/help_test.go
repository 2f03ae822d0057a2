package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// commandLine returns the definition of the program.
func commandLine() *cli.App {
	return program.NewFactory(ui.Streams{}, program.Environment{}, torchxProgram(), nil).CommandLine()
}

// TestOverviewFits: `torchx` fits a terminal of 80x24 with the prompt below it, and has all
// commands.
func TestOverviewFits(t *testing.T) {
	t.Parallel()
	app := commandLine()
	text := program.HelpText(app, "", 80)
	if n := strings.Count(text, "\n"); n > 23 {
		t.Errorf("overview has %d lines, want at most 23", n)
	}
	if strings.Contains(text, "…") {
		t.Errorf("a line is cut off:\n%s", text)
	}
	narrow := program.HelpText(app, "", 60)
	for _, c := range app.Commands {
		entry := fmt.Sprintf("%-10s %s", c.Name, c.Usage)
		if c.ArgsUsage != "" { // it shares an entry with related commands
			entry = c.Name
		}
		if !c.Hidden && c.Category != "" && (!strings.Contains(text, entry) || !strings.Contains(narrow, entry)) {
			t.Errorf("overview lacks %q", entry)
		}
	}
	for _, group := range []string{"run", "look", "measure", "write", "set up"} {
		if !strings.Contains(text, "\n"+group+" ") {
			t.Errorf("overview lacks group %q", group)
		}
	}
	linesFit(t, "overview", text, 80)
}

// TestHelpFitsTheScreen: help begins with the usage line and fits 80 columns.
func TestHelpFitsTheScreen(t *testing.T) {
	t.Parallel()
	app := commandLine()
	eachCommand(app.Commands, "", func(name string, _ *cli.Command) {
		text := program.HelpText(app, name, 80)
		if rest, ok := strings.CutPrefix(text, "usage: torchx "+name); !ok || rest[0] != ' ' && rest[0] != '\n' {
			t.Errorf("help of %s starts with %.60q, want its usage line", name, text)
		}
		if !strings.Contains(text, "\nexamples:\n") {
			t.Errorf("help of %s has no examples", name)
		}
		linesFit(t, name, text, 80)
	})
}

func linesFit(t *testing.T, name, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := ui.TextWidth(strings.TrimRight(line, "\n")); n > width && !strings.HasPrefix(line, "  torchx ") {
			t.Errorf("%s: got %d columns, want at most %d: %s", name, n, width, line)
		}
	}
}

// TestCommandsHaveTheirNames: a command is built when its name begins the command line.
func TestCommandsHaveTheirNames(t *testing.T) {
	t.Parallel()
	def := torchxProgram()
	f := program.NewFactory(ui.Streams{}, program.Environment{}, def, nil)
	for _, c := range def.Commands {
		if got := c.New(f).Name; got != c.Name {
			t.Errorf("entry %s builds the command %s", c.Name, got)
		}
	}
}
