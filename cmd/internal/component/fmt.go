package component

import (
	"bytes"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/interp"
	"torchx/starlark/starfiles"
)

// fmtOptions are the flags of `component fmt`.
type fmtOptions struct{ check, diff bool }

func newFmt(f *program.Factory) *cli.Command {
	o := fmtOptions{}
	return &cli.Command{
		Name:  "fmt",
		Usage: "format component files",
		UsageText: "[--check] [-d] [PATH...]\n" +
			"torchx component new train\n" +
			"torchx component fmt\n" +
			"torchx component fmt --check components\n" +
			"torchx component fmt -d components/train.star",
		Description: "Format .star files as buildifier does, and print the names of those that changed. A file that cannot be parsed is not " +
			"changed, and the exit code is 1.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit with 1 if a file would change", Destination: &o.check},
			&cli.BoolFlag{Name: "diff", Aliases: []string{"d"}, Usage: "write nothing; print what would change", Destination: &o.diff},
		},
		Action: func(c *cli.Context) error { return runFmt(f, c.Args().Slice(), o) },
	}
}

// runFmt continues after a file that cannot be formatted and fails at the end.
func runFmt(f *program.Factory, paths []string, o fmtOptions) error {
	return forEachFile(f, paths, func(file string) error {
		changed, err := formatFile(f, file, o)
		if err == nil && changed && o.check {
			err = program.QuietError(program.ExitError)
		}
		return err
	})
}

// formatFile formats a file, unless o says to write nothing, and reports whether formatting
// changes it.
func formatFile(f *program.Factory, file string, o fmtOptions) (changed bool, err error) {
	path := f.Env.Absolute(file)
	src, err := interp.ReadFile(path, file)
	if err != nil {
		return false, err
	}
	out, err := starfiles.Format(file, src)
	if err != nil || bytes.Equal(src, out) {
		return false, err
	}
	if o.diff {
		return true, printDiff(f, file, src, out)
	}
	if err := f.Printf("%s\n", ui.OneLine(file)); err != nil || o.check {
		return true, err
	}
	return true, replaceFile(path, out)
}

func printDiff(f *program.Factory, file string, before, after []byte) error {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(string(before)), B: difflib.SplitLines(string(after)),
		FromFile: file, ToFile: file + " (formatted)", Context: 3,
	})
	if err != nil {
		return err
	}
	return f.Print(f.PaintDiff(ui.Clean(text, true)))
}
