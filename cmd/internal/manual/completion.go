package manual

import (
	"embed"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
)

// completionScripts holds the scripts of the shells, completions/torchx.SHELL.
//
//go:embed completions
var completionScripts embed.FS

// shells lists the shells that have a script.
var shells = []string{"bash", "zsh", "fish"}

// NewCompletion returns the command `completion`.
func NewCompletion(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "completion",
		Usage: "set up shell completion",
		UsageText: strings.Join(shells, "|") + "\n" +
			"source <(torchx completion bash)\n" +
			"torchx completion zsh > \"${fpath[1]}/_torchx\"\n" +
			"torchx completion fish > ~/.config/fish/completions/torchx.fish",
		Description: "Print a script for bash, zsh or fish that completes commands, options, apps, components and their arguments with the " +
			"Tab key. Load it once or from the start-up file of your shell.",
		Action: func(c *cli.Context) error {
			shell, err := program.OneArgument(c, "SHELL: "+strings.Join(shells, ", "))
			if err != nil {
				return err
			}
			script, err := completionScripts.ReadFile("completions/torchx." + shell)
			if err != nil {
				return program.Usagef("completion", "unknown shell %s: want %s.%s",
					ui.QuoteWord(shell), strings.Join(shells, ", "), humanize.Hint(shell, shells))
			}
			return f.Print(string(script))
		},
	}
}
