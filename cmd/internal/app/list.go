package app

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/suggest"
)

type listOptions struct {
	backend, cfg string
	all          bool
	limit        string
	states       []string
	since        string
	json         bool
}

func NewList(t *program.Factory) *cli.Command {
	o := listOptions{}
	states := cli.StringSlice{}
	return &cli.Command{
		Name:      "list",
		Aliases:   []string{"ps"},
		Usage:     "list apps, newest first",
		UsageText: "[-b BACKEND] [--all] [--limit N] [--state S] [--since TIME] [--json]\ntorchx list --state failed --since 2d",
		Description: "List the apps that were submitted from this TORCHX_HOME, newest first and 50 at most. " +
			"With -b the backend itself is asked too, so that apps which others submitted show up.",
		Flags: []cli.Flag{
			program.BackendFlag(&o.backend, "only apps of `BACKEND`, also those it knows by itself"),
			program.CfgFlag(&o.cfg),
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "all apps, however many", Destination: &o.all},
			&cli.StringFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N` apps (default: 50)", Destination: &o.limit},
			&cli.StringSliceFlag{Name: "state", Usage: "only apps in state `S` (repeatable, or S,S2)", Destination: &states},
			&cli.StringFlag{Name: "since", Usage: "only apps submitted at `TIME` or later: RFC 3339, unix seconds or an age (10m, 2h, 3d)", Destination: &o.since},
			program.JSONFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			o.states = states.Value()
			return list(c.Context, t, o)
		},
	}
}

func list(ctx context.Context, t *program.Factory, o listOptions) error {
	filter, err := listFilter(t, o)
	if err != nil {
		return err
	}
	if layer, _ := backend.CfgLayer(o.cfg); len(layer) > 0 { // listFilter has checked it
		t = t.With(func(f *program.Factory) { f.Cfg = layer })
	}
	r, err := t.Runner(ctx)
	if err != nil {
		return err
	}
	apps, unavailable := r.List(ctx, filter)
	if unavailable != nil && len(apps) == 0 {
		return unavailable
	}
	if o.json {
		err = t.PrintJSON(apps)
	} else {
		err = listTable(t, apps, failpoint.Now())
	}
	return cmp.Or(err, unavailable)
}

func listFilter(t *program.Factory, o listOptions) (f runner.Filter, err error) {
	if o.backend != "" {
		alias, err := t.Canonical("list", o.backend)
		if err != nil {
			return f, err
		}
		f.Backend = alias.Backend
	}
	if err := checkListCfg(t, f.Backend, o.cfg); err != nil {
		return f, err
	}
	if f.States, err = parseStates("list", o.states); err != nil {
		return f, err
	}
	f.All = o.all
	if f.Limit, err = listLimit(o); err != nil {
		return f, err
	}
	if o.since != "" {
		if f.Since, err = ui.ParseTime(o.since, failpoint.Now()); err != nil {
			return f, program.Usagef("list", "--since: %v", err)
		}
	}
	return f, nil
}

// checkListCfg says which options mean nothing; a value that cannot be used is an error.
func checkListCfg(t *program.Factory, backendName, cfg string) error {
	layer, err := backend.CfgLayer(cfg)
	if err != nil || len(layer) == 0 {
		return err
	}
	if backendName == "" {
		t.Warn("-cfg is ignored: it tells a backend where to look, and goes with -b")
		return nil
	}
	reg, err := t.Registry()
	if err != nil {
		return err
	}
	b, err := reg.Get(backendName)
	if err != nil {
		return err
	}
	for _, w := range backend.Unused(b.Options(), layer) {
		t.Warn("%s", w)
	}
	for _, e := range backend.Explain(b.Options(), layer) {
		if e.Err != nil {
			return backend.Errorf(backend.ErrInvalidOption, "backend %s: %s: option %s: %w", backendName, e.Given[0].Origin, e.Key, e.Err)
		}
	}
	return nil
}

func listLimit(o listOptions) (int, error) {
	switch {
	case o.limit != "" && o.all:
		return 0, program.Usagef("list", "--all and --limit cannot be used together")
	case o.limit == "":
		return runner.DefaultLimit, nil
	}
	n, err := strconv.Atoi(o.limit)
	if err != nil || n < 1 {
		return 0, program.Usagef("list", "--limit must be a whole number from 1, not %s", ui.QuoteWord(o.limit))
	}
	return n, nil
}

func parseStates(command string, texts []string) ([]spec.State, error) {
	var states []spec.State
	for _, name := range backend.SplitCSV(strings.Join(texts, ",")) {
		s, err := spec.ParseState(strings.ToUpper(name))
		if err != nil {
			known := StateNames()
			return nil, program.Usagef(command, "unknown state %s: it is one of %s.%s", ui.QuoteWord(name),
				strings.Join(known, ", "), suggest.Hint(strings.ToUpper(name), known))
		}
		states = append(states, s)
	}
	return states, nil
}

func StateNames() []string {
	var names []string
	for s := spec.Unsubmitted; s <= spec.Unknown; s++ {
		names = append(names, s.String())
	}
	return names
}

func listTable(t *program.Factory, apps []runner.Row, now time.Time) error {
	tab := ui.Table{Header: []string{"APP HANDLE", "APP NAME", "STATE", "COMPONENT", "SUBMITTED", "EXIT"}}
	for _, a := range apps {
		submitted, exit := "", ""
		if a.SubmittedAt != nil {
			submitted = ui.Age(now.Sub(*a.SubmittedAt)) + " ago"
		}
		if a.ExitCode != nil {
			exit = strconv.Itoa(*a.ExitCode)
		}
		tab.Add(ui.NewCell(a.Handle, ""), ui.NewCell(a.Name, ""), ui.NewCell(ui.StateText(a.State, a.Msg), stateColor(a.State)),
			ui.NewCell(a.Component, ""), ui.NewCell(submitted, ""), ui.NewCell(exit, ""))
	}
	if width := ui.ScreenWidth(t.Out); width > 0 {
		tab.Fit(width, "APP NAME", "COMPONENT", "SUBMITTED")
	}
	return tab.Write(t.Out, t.OutStyle)
}
