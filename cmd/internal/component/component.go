// Package component has the commands for authors of components: the group `component`,
// and builtins, migrate and lsp.
package component

import (
	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
)

// NewComponent returns the group `component`.
func NewComponent(f *program.Factory) *cli.Command {
	return f.Group(&cli.Command{
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
			newList(f), newShow(f), newResources(f), newNew(f), newDoc(f),
			newTest(f), newFmt(f), newLint(f),
		},
	})
}
