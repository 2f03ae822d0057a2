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
		Usage: "develop components",
		UsageText: "COMMAND ...\n" +
			"torchx component new train\n" +
			"torchx component test\n" +
			"torchx component fmt --check components\n" +
			"torchx component lint components/train.star",
		Description: "Create, test, format, lint and document component files. A PATH is a file or a folder, which includes its subfolders; " +
			"without a PATH the working folder is used.",
		Subcommands: []*cli.Command{
			newList(f), newShow(f), newResources(f), newNew(f), newDoc(f),
			newTest(f), newFmt(f), newLint(f),
		},
	})
}
