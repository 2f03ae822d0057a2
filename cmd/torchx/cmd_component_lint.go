package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/starlark/interp"
	"torchx/starlark/starlint"
)

// lintOptions are those of `component lint`.
type lintOptions struct{ fix, json, rules bool }

func (t *tool) componentLintCommand() *cli.Command {
	o := lintOptions{}
	return &cli.Command{
		Name:  "lint",
		Usage: "find mistakes in component files",
		UsageText: "[--fix] [--json] [PATH...]\n" +
			"torchx component lint\n" +
			"torchx component lint --fix components/train.star\n" +
			"torchx component lint --rules",
		Description: "Print what is wrong or doubtful in .star files, as FILE:LINE:COLUMN: RULE: MESSAGE, and exit with 1 if there is " +
			"anything. Nothing is run. A comment `# lint: disable=RULE` (or buildifier's) turns a rule off for the statement that it stands above or behind.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "make the fixes that there are, and report the rest", Destination: &o.fix},
			&cli.BoolFlag{Name: "rules", Usage: "list the rules", Destination: &o.rules},
			&cli.BoolFlag{Name: "json", Usage: "print JSON: an array of findings with their places and fixes", Destination: &o.json},
		},
		Action: func(c *cli.Context) error {
			if o.rules {
				return t.printRules()
			}
			return t.componentLint(c.Args().Slice(), o)
		},
	}
}

func (t *tool) componentLint(paths []string, o lintOptions) error {
	all := []starlint.Finding{}
	err := t.eachStarFile(paths, func(file string) error {
		src, err := interp.ReadFile(t.env.absolute(file), file)
		if err != nil {
			return err
		}
		findings := starlint.Check(file, src)
		if o.fix {
			if findings, err = t.fixFile(file, src, findings); err != nil {
				return err
			}
		}
		all = append(all, findings...)
		if len(findings) == 0 {
			return nil
		}
		if !o.json {
			if err := t.printFindings(findings); err != nil {
				return err
			}
		}
		return quietError{exitError}
	})
	if o.json {
		if err := t.printJSON(all); err != nil {
			return err
		}
	}
	if err != nil && !o.json {
		t.sumUp(all, o.fix)
	}
	return err
}

// maxFixRounds bounds how often a file is linted anew: a fix can uncover another.
const maxFixRounds = 10

// fixFile makes the fixes of a file and returns what is left.
func (t *tool) fixFile(file string, src []byte, findings []starlint.Finding) ([]starlint.Finding, error) {
	fixed := 0
	for range maxFixRounds {
		out, n := starlint.Apply(src, findings)
		if n == 0 {
			break
		}
		src, fixed = out, fixed+n
		findings = starlint.Check(file, src)
	}
	if fixed == 0 {
		return findings, nil
	}
	t.say("%s: fixed %s", file, counted(fixed, "finding"))
	return findings, replaceFile(t.env.absolute(file), src)
}

func (t *tool) printFindings(findings []starlint.Finding) error {
	var b strings.Builder
	for i := range findings {
		f := &findings[i]
		color := ansiYellow
		if f.Severity == starlint.Error {
			color = ansiRed
		}
		place := fmt.Sprintf("%s:%d:%d:", oneLine(f.File), f.Start.Line, f.Start.Col)
		fmt.Fprintf(&b, "%s %s %s\n", t.outStyle.paint(ansiBold, place), t.outStyle.paint(color, f.Rule+":"), oneLine(f.Message))
	}
	return t.print(b.String())
}

// sumUp says how much was found, and what can be done without thinking.
func (t *tool) sumUp(findings []starlint.Finding, fixed bool) {
	if len(findings) == 0 {
		return
	}
	fixable := 0
	for i := range findings {
		if findings[i].Fix != nil {
			fixable++
		}
	}
	text := counted(len(findings), "finding")
	if fixable > 0 && !fixed {
		text += fmt.Sprintf(", %d of which --fix would mend", fixable)
	}
	t.say("%s", text)
}

func (t *tool) printRules() error {
	tab := table{header: []string{"RULE", "FIX", "MEANING"}}
	for _, r := range starlint.Rules() {
		fix := ""
		if r.Fixable {
			fix = "fix"
		}
		tab.add(cell{r.Name, ansiBold}, cell{fix, ansiGreen}, cell{r.Summary, ""})
	}
	return tab.write(t.out, t.outStyle)
}
