// Package setup has the commands that set up a project and its home: config, configure and runopts
// for the configuration, lib for the project's component libraries, and doctor, which checks the
// home and the backends.
package setup

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// configOptions are the flags of `config explain`.
type configOptions struct {
	backend, cfg string
	component    string
	json         bool
}

// NewConfig returns the group `config`.
func NewConfig(f *program.Factory) *cli.Command {
	return f.Group(&cli.Command{
		Name:  "config",
		Usage: "explain settings",
		UsageText: "COMMAND ...\n" +
			"torchx config explain dist.ddp\n" +
			"torchx config trust .torchxconfig",
		Description: "Explain where settings come from, and trust the settings of a folder that could do harm.",
		Subcommands: []*cli.Command{newExplain(f), newTrust(f)},
	})
}

// newExplain returns the command `config explain`.
func newExplain(f *program.Factory) *cli.Command {
	o := configOptions{}
	return &cli.Command{
		Name:  "explain",
		Usage: "list settings, options and defaults with their sources",
		UsageText: "[-b BACKEND] [-cfg K=V] [--json] [COMPONENT]\n" +
			"torchx config explain\n" +
			"torchx config explain -b local -cfg grace_period=3\n" +
			"torchx config explain dist.ddp",
		Description: "List the settings of torchx, the options of a backend and, with COMPONENT, the defaults of its arguments, each with " +
			"its value and its source: -cfg, a line of a .torchxconfig, an environment variable or the built-in default. " +
			"Overridden values are listed below the value that overrides them. Unknown keys are reported, and an invalid value is " +
			"an error. " +
			program.SecretsHelp,
		Flags: []cli.Flag{
			program.BackendFlag(&o.backend, "explain the options of `BACKEND` (default: the backend that run uses)"),
			program.CfgFlag(&o.cfg), program.JSONFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			if err := program.AtMost(c, 1); err != nil {
				return err
			}
			o.component = c.Args().First()
			return configExplain(c.Context, f, o)
		},
	}
}

func configExplain(ctx context.Context, f *program.Factory, o configOptions) error {
	e, err := explainConfig(ctx, f, o)
	if err != nil {
		return err
	}
	if o.json {
		err = f.PrintMaskedJSON(e)
	} else {
		err = printExplained(f, e)
	}
	if err != nil {
		return err
	}
	if !o.json {
		for _, n := range e.Notes {
			f.Warn("%s", n)
		}
	}
	return sayProblems(f, e)
}

// sayProblems prints invalid values and returns an error if there are any.
func sayProblems(f *program.Factory, e *explained) error {
	found := false
	for _, list := range [][]setting{e.Options, e.Arguments} {
		for i := range list {
			if list[i].Problem != "" {
				found = true
				f.SayError(string(list[i].Problem))
			}
		}
	}
	if found {
		return program.QuietError(program.ExitError)
	}
	return nil
}

// printExplained prints a table for each group of values.
func printExplained(f *program.Factory, e *explained) error {
	files := "none"
	if len(e.Files) > 0 {
		var names []string
		for _, file := range e.Files {
			names = append(names, f.ShortPath(file))
		}
		files = strings.Join(names, ", ")
		if len(names) > 1 {
			files += " (the first one wins)"
		}
	}
	if err := f.Printf("configuration files: %s\n", ui.OneLine(files)); err != nil {
		return err
	}
	groups := []struct {
		title string
		list  []setting
	}{{"SETTING", e.Settings}, {"OPTION OF " + e.Backend, e.Options}, {"ARGUMENT OF " + string(e.Component), e.Arguments}}
	for _, g := range groups {
		if len(g.list) == 0 {
			continue
		}
		if err := f.Print("\n"); err != nil {
			return err
		}
		if err := originTable(f, g.title, g.list); err != nil {
			return err
		}
	}
	return nil
}

func originTable(f *program.Factory, title string, list []setting) error {
	tab := ui.Table{Header: []string{title, "VALUE", "FROM"}}
	for i := range list {
		o := &list[i]
		color, mark := "", ""
		switch {
		case o.Problem != "":
			color, mark = ui.AnsiRed, " (cannot be used)"
		case o.Source == sourceDefault || o.Source == sourceNone:
			color = ui.AnsiDim
		case o.Source == sourceRequired:
			color = ui.AnsiYellow
		}
		tab.Add(ui.NewCell(o.Key, ""), ui.NewCell(valueText(o.Value), color),
			ui.NewCell(originText(f, o.given)+mark, color))
		for _, h := range o.Hidden {
			tab.Add(ui.NewCell("", ""), ui.NewCell(valueText(h.Value), ui.AnsiDim),
				ui.NewCell(originText(f, h)+" (hidden)", ui.AnsiDim))
		}
	}
	if width := ui.ScreenWidth(f.Out); width > 0 {
		tab.Shorten("VALUE", width, 12)
	}
	return tab.Write(f.Out, f.OutStyle)
}

// originText describes the source of a value in a few words.
func originText(f *program.Factory, v given) string {
	where := string(v.Origin)
	switch v.Source {
	case sourceFile:
		return f.ShortPath(where)
	case sourceAlias:
		return "alias " + where
	case sourceNone:
		return "not set"
	}
	if where != "" {
		return where
	}
	return v.Source
}
