package config

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// configOptions are those of `config explain`.
type configOptions struct {
	backend, cfg string
	component    string
	json         bool
}

func NewConfig(t *program.Factory) *cli.Command {
	o := configOptions{}
	cmd := &cli.Command{
		Name:  "config",
		Usage: "explain which values count and where they come from",
		UsageText: "explain [-b BACKEND] [-cfg K=V] [--json] [COMPONENT]\n" +
			"torchx config explain\n" +
			"torchx config explain -b local -cfg grace_period=3\n" +
			"torchx config explain dist.ddp",
		Description: "`config explain` lists the settings of the program, the options of a backend and, with COMPONENT, the defaults of its " +
			"arguments: each with its value and where that comes from, be it -cfg, a line of a .torchxconfig, a variable of the environment or " +
			"the program. Values that do not count are shown below the one that hides them. Keys that mean nothing are named, and a value " +
			"that cannot be used is an error. " + program.SecretsHelp,
		Flags: []cli.Flag{
			program.BackendFlag(&o.backend, "explain the options of `BACKEND` (default: the one that run would take)"),
			program.CfgFlag(&o.cfg), program.JSONFlag(&o.json),
		},
	}
	cmd.Action = func(c *cli.Context) error {
		switch c.Args().First() {
		case "":
			return t.Print(program.CommandHelp(cmd, "config", ui.TerminalWidth(t.Out)))
		case "explain":
		default:
			return program.Usagef("config", "unknown command %s: there is `config explain`", ui.QuoteWord(c.Args().First()))
		}
		if err := program.AtMost(c, 2); err != nil {
			return err
		}
		o.component = c.Args().Get(1)
		return configExplain(c.Context, t, o)
	}
	return cmd
}

func configExplain(ctx context.Context, t *program.Factory, o configOptions) error {
	e, err := explainConfig(ctx, t, o)
	if err != nil {
		return err
	}
	if o.json {
		err = t.PrintJSON(e)
	} else {
		err = printExplained(t, e)
	}
	if err != nil {
		return err
	}
	if !o.json {
		for _, n := range e.Notes {
			t.Warn("%s", n)
		}
	}
	return sayProblems(t, e)
}

// sayProblems makes values that cannot be used the end of the command.
func sayProblems(t *program.Factory, e *explained) error {
	found := false
	for _, list := range [][]origin{e.Options, e.Arguments} {
		for i := range list {
			if list[i].Problem != "" {
				found = true
				t.SayError(list[i].Problem)
			}
		}
	}
	if found {
		return program.QuietError(program.ExitError)
	}
	return nil
}

// printExplained prints a table for each group of values.
func printExplained(t *program.Factory, e *explained) error {
	files := "none"
	if len(e.Files) > 0 {
		var names []string
		for _, f := range e.Files {
			names = append(names, t.ShortPath(f))
		}
		files = strings.Join(names, ", ")
		if len(names) > 1 {
			files += " (the first one wins)"
		}
	}
	if err := t.Printf("configuration files: %s\n", ui.OneLine(files)); err != nil {
		return err
	}
	groups := []struct {
		title string
		list  []origin
	}{{"SETTING", e.Settings}, {"OPTION OF " + e.Backend, e.Options}, {"ARGUMENT OF " + e.Component, e.Arguments}}
	for _, g := range groups {
		if len(g.list) == 0 {
			continue
		}
		if err := t.Print("\n"); err != nil {
			return err
		}
		if err := originTable(t, g.title, g.list); err != nil {
			return err
		}
	}
	return nil
}

func originTable(t *program.Factory, title string, list []origin) error {
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
		tab.Add(ui.NewCell(o.Key, ""), ui.NewCell(valueText(o.Value), color), ui.NewCell(placeText(t, o.Source, o.Origin)+mark, color))
		for _, h := range o.Hidden {
			tab.Add(ui.NewCell("", ""), ui.NewCell(valueText(h.Value), ui.AnsiDim), ui.NewCell(placeText(t, h.Source, h.Origin)+" (hidden)", ui.AnsiDim))
		}
	}
	if width := ui.ScreenWidth(t.Out); width > 0 {
		tab.Shorten("VALUE", width, 12)
	}
	return tab.Write(t.Out, t.OutStyle)
}

// placeText says in a few words where a value comes from.
func placeText(t *program.Factory, source, place string) string {
	switch source {
	case sourceFile:
		return t.ShortPath(place)
	case sourceAlias:
		return "the name " + place
	case sourceNone:
		return "not set"
	}
	if place != "" {
		return place
	}
	return source
}
