package component

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/components"
	"torchx/starlark/analysis"
	"torchx/starlark/interp"
	"torchx/starlark/starlint"
)

// lintOptions are the flags of `component lint`.
type lintOptions struct{ fix, json, rules bool }

func newLint(f *program.Factory) *cli.Command {
	o := lintOptions{}
	return &cli.Command{
		Name:  "lint",
		Usage: "find mistakes in component files",
		UsageText: "[--fix] [--json] [PATH...]\n" +
			"torchx component new train\n" +
			"torchx component lint\n" +
			"torchx component lint --fix components/train.star\n" +
			"torchx component lint --rules",
		Description: "Print mistakes and doubtful code in .star files as FILE:LINE:COLUMN: RULE: MESSAGE, and exit with 1 if there are any. " +
			"No file is evaluated. A comment `# lint: disable=RULE` (or buildifier's) turns a rule off for the statement below it " +
			"or on its line.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "apply the fixes that rules offer, and report the rest", Destination: &o.fix},
			&cli.BoolFlag{Name: "rules", Usage: "list the rules", Destination: &o.rules},
			&cli.BoolFlag{Name: "json", Usage: "print a JSON array of findings with their positions and fixes", Destination: &o.json},
		},
		Action: func(c *cli.Context) error {
			if o.rules && o.json {
				return program.Usagef("component lint",
					"--rules and --json cannot be used together")
			}
			if o.rules {
				return printRules(f)
			}
			return runLint(f, c.Args().Slice(), o)
		},
	}
}

func runLint(f *program.Factory, paths []string, o lintOptions) error {
	all := []starlint.Finding{}
	disk := analysis.NewDisk(interp.New(interp.Config{Dir: f.Env.Dir, Builtins: components.FS, Library: f.OpenLibraries().Open}))
	err := forEachFile(f, paths, func(name string) error {
		src, err := interp.ReadFile(f.Env.Absolute(name), name)
		if err != nil {
			return err
		}
		file, err := disk.File(name, string(src))
		if err != nil {
			return err
		}
		var findings []starlint.Finding
		if !o.fix {
			findings = starlint.Check(file, disk)
		} else if findings, err = fixFile(f, file, disk); err != nil {
			return err
		}
		all = append(all, findings...)
		if len(findings) == 0 {
			return nil
		}
		if !o.json {
			if err := printFindings(f, findings); err != nil {
				return err
			}
		}
		return program.QuietError(program.ExitError)
	})
	if o.json {
		if err := f.PrintJSON(all); err != nil {
			return err
		}
	}
	if err != nil && !o.json {
		printSummary(f, all, o.fix)
	}
	return err
}

// fixFile applies the fixes of a file and returns the remaining findings.
func fixFile(
	f *program.Factory, file *analysis.File, o analysis.Opener,
) ([]starlint.Finding, error) {
	out, fixed, left := starlint.FixAll(file, o)
	if fixed == 0 {
		return left, nil
	}
	f.Say("%s: fixed %s", file.Name, ui.Counted(fixed, "finding"))
	return left, replaceFile(f.Env.Absolute(file.Name), out)
}

func printFindings(f *program.Factory, findings []starlint.Finding) error {
	var b strings.Builder
	for i := range findings {
		file := &findings[i]
		color := ui.AnsiYellow
		if file.Severity == starlint.Error {
			color = ui.AnsiRed
		}
		position := fmt.Sprintf("%s:%d:%d:", ui.OneLine(file.File), file.Start.Line, file.Start.Col)
		fmt.Fprintf(&b, "%s %s %s\n", f.OutStyle.Paint(ui.AnsiBold, position),
			f.OutStyle.Paint(color, file.Rule+":"), ui.OneLine(file.Message))
	}
	return f.Print(b.String())
}

// printSummary prints the number of findings, and of those that --fix can fix.
func printSummary(f *program.Factory, findings []starlint.Finding, fixed bool) {
	if len(findings) == 0 {
		return
	}
	fixable := 0
	for i := range findings {
		if findings[i].Fix != nil {
			fixable++
		}
	}
	text := ui.Counted(len(findings), "finding")
	if fixable > 0 && !fixed {
		text += fmt.Sprintf(", %d fixable with --fix", fixable)
	}
	f.Say("%s", text)
}

func printRules(f *program.Factory) error {
	tab := ui.Table{Header: []string{"RULE", "FIX", "MEANING"}}
	for _, r := range starlint.Rules() {
		fix := ""
		if r.Fixable {
			fix = "fix"
		}
		tab.Add(ui.NewCell(r.Name, ui.AnsiBold), ui.NewCell(fix, ui.AnsiGreen),
			ui.NewCell(r.Summary, ""))
	}
	return f.PrintTable(&tab, nil)
}
