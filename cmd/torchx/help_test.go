package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// No help is wider than a small screen, but for what cannot be broken.
func TestHelpFitsTheScreen(t *testing.T) {
	t.Parallel()
	app := program.NewFactory(ui.Streams{}, program.Environment{}, torchxProgram(), nil).CommandLine()
	helpFits(t, app, "", app.Commands)
}

func helpFits(t *testing.T, app *cli.App, group string, commands []*cli.Command) {
	t.Helper()
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		name := group + c.Name
		text := program.HelpText(app, name, 80)
		if rest, ok := strings.CutPrefix(text, "usage: torchx "+name); !ok || rest[0] != ' ' && rest[0] != '\n' {
			t.Errorf("help of %s: %.60q", name, text)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		helpFits(t, app, name+" ", c.Subcommands)
	}
}
