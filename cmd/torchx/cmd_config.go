package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"
)

// configOptions are those of `config explain`.
type configOptions struct {
	backend, cfg string
	component    string
	json         bool
}

func (t *tool) configCommand() *cli.Command {
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
			"that cannot be used is an error. " + secretsHelp,
		Flags: []cli.Flag{
			backendFlag(&o.backend, "explain the options of `BACKEND` (default: the one that run would take)"),
			cfgFlag(&o.cfg), jsonFlag(&o.json),
		},
	}
	cmd.Action = func(c *cli.Context) error {
		switch c.Args().First() {
		case "":
			return t.print(commandHelp(cmd, "config", terminalWidth(t.out)))
		case "explain":
		default:
			return usagef("config", "unknown command %s: there is `config explain`", quoteWord(c.Args().First()))
		}
		if err := atMost(c, 2); err != nil {
			return err
		}
		o.component = c.Args().Get(1)
		return t.configExplain(c.Context, o)
	}
	return cmd
}

func (t *tool) configExplain(ctx context.Context, o configOptions) error {
	e, err := t.explainConfig(ctx, o)
	if err != nil {
		return err
	}
	if o.json {
		err = t.printJSON(e)
	} else {
		err = t.printExplained(e)
	}
	if err != nil {
		return err
	}
	if !o.json {
		for _, n := range e.Notes {
			t.warn("%s", n)
		}
	}
	return t.sayProblems(e)
}

// sayProblems makes values that cannot be used the end of the command.
func (t *tool) sayProblems(e *explained) error {
	found := false
	for _, list := range [][]origin{e.Options, e.Arguments} {
		for i := range list {
			if list[i].Problem != "" {
				found = true
				t.sayError(list[i].Problem)
			}
		}
	}
	if found {
		return quietError{exitError}
	}
	return nil
}

// printExplained prints a table for each group of values.
func (t *tool) printExplained(e *explained) error {
	files := "none"
	if len(e.Files) > 0 {
		var names []string
		for _, f := range e.Files {
			names = append(names, t.shortPath(f))
		}
		files = strings.Join(names, ", ")
		if len(names) > 1 {
			files += " (the first one wins)"
		}
	}
	if err := t.printf("configuration files: %s\n", oneLine(files)); err != nil {
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
		if err := t.print("\n"); err != nil {
			return err
		}
		if err := t.originTable(g.title, g.list); err != nil {
			return err
		}
	}
	return nil
}

func (t *tool) originTable(title string, list []origin) error {
	tab := table{header: []string{title, "VALUE", "FROM"}}
	for i := range list {
		o := &list[i]
		color, mark := "", ""
		switch {
		case o.Problem != "":
			color, mark = ansiRed, " (cannot be used)"
		case o.Source == sourceDefault || o.Source == sourceNone:
			color = ansiDim
		case o.Source == sourceRequired:
			color = ansiYellow
		}
		tab.add(cell{o.Key, ""}, cell{valueText(o.Value), color}, cell{t.placeText(o.Source, o.Origin) + mark, color})
		for _, h := range o.Hidden {
			tab.add(cell{"", ""}, cell{valueText(h.Value), ansiDim}, cell{t.placeText(h.Source, h.Origin) + " (hidden)", ansiDim})
		}
	}
	if width := screenWidth(t.out); width > 0 {
		tab.shorten("VALUE", width, 12)
	}
	return tab.write(t.out, t.outStyle)
}

// placeText says in a few words where a value comes from.
func (t *tool) placeText(source, place string) string {
	switch source {
	case sourceFile:
		return t.shortPath(place)
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

// shortPath writes a path as people do: relative to the working folder or to ~,
// whichever is shorter.
func (t *tool) shortPath(path string) string {
	short := path
	for _, from := range []struct{ dir, as string }{{t.env.dir, ""}, {t.env.get("HOME"), "~/"}} {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(from.dir, "/")+"/")
		if ok && from.dir != "" && len(from.as+rest) < len(short) {
			short = from.as + rest
		}
	}
	return short
}
