package app

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// listOptions are the flags of `list`.
type listOptions struct {
	backend, cfg string
	all          bool
	limit        string
	states       []string
	since        string
	json         bool
}

// NewList returns the command `list`.
func NewList(f *program.Factory) *cli.Command {
	o := listOptions{}
	states := cli.StringSlice{}
	return &cli.Command{
		Name:    "list",
		Aliases: []string{"ps", "ls"},
		Usage:   "list apps, newest first",
		UsageText: "[-b BACKEND] [--all] [--limit N] [--state S] [--since TIME] [--json]\n" +
			"torchx list\n" +
			"torchx list --state failed --since 2d\n" +
			"torchx list -b local --all --json",
		Description: "List the apps that were submitted from this TORCHX_HOME, newest first, at most 50. With -b the backend itself is " +
			"asked, too, which adds apps that others submitted.",
		Flags: []cli.Flag{
			program.BackendFlag(&o.backend, "only apps of `BACKEND`, including apps that others submitted (default: scheduler of [cli:list])"),
			program.CfgFlag(&o.cfg),
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "list all apps, without a limit", Destination: &o.all},
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
			return list(c.Context, f, o)
		},
	}
}

func list(ctx context.Context, f *program.Factory, o listOptions) error {
	filter, err := o.filter(f)
	if err != nil {
		return err
	}
	layer, err := listCfg(f, filter.Backend, o.cfg)
	if err != nil {
		return err
	}
	if len(layer) > 0 {
		f = f.With(func(c *program.Factory) { c.Cfg = layer })
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	apps, unavailable := r.List(ctx, filter)
	if unavailable != nil && len(apps) == 0 {
		return unavailable
	}
	if o.json {
		err = f.PrintJSON(appObjects(apps))
	} else {
		err = printApps(f, apps, failpoint.Now())
	}
	return cmp.Or(err, unavailable)
}

func (o listOptions) filter(f *program.Factory) (filter runner.Filter, err error) {
	filter.All = o.all
	conf, err := f.Config()
	if err != nil {
		return filter, err
	}
	defaults := conf.Cli("list")
	o.backend = cmp.Or(o.backend, defaults["scheduler"], defaults["backend"])
	if filter.Backend, err = canonicalBackend(f, "list", o.backend); err != nil {
		return filter, err
	}
	if filter.States, err = parseStates("list", o.states); err != nil {
		return filter, err
	}
	if filter.Limit, err = listLimit(o); err != nil {
		return filter, err
	}
	if o.since != "" {
		if filter.Since, err = ui.ParseTime(o.since, failpoint.Now()); err != nil {
			return filter, program.Usagef("list", "--since: %v", err)
		}
	}
	return filter, nil
}

// listCfg parses -cfg. It warns about options that have no effect; an invalid value is an error.
func listCfg(f *program.Factory, backendName, cfg string) (backend.Layer, error) {
	layer, err := backend.CfgLayer(cfg)
	if err != nil || len(layer) == 0 {
		return nil, err
	}
	if backendName == "" {
		f.Warn("-cfg has no effect without -b: it tells the backend where to look")
		return layer, nil
	}
	reg, err := f.Registry()
	if err != nil {
		return nil, err
	}
	b, err := reg.Get(backendName)
	if err != nil {
		return nil, err
	}
	for _, w := range backend.Unused(b.Options(), layer) {
		f.Warn("%s", w)
	}
	for _, e := range backend.Explain(b.Options(), layer) {
		if e.Err != nil {
			return nil, backend.Errorf(backend.ErrInvalidOption, "backend %s: %s: option %s: %w", backendName, e.Given[0].Origin, e.Key, e.Err)
		}
	}
	return layer, nil
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

func printApps(f *program.Factory, apps []runner.Row, now time.Time) error {
	tab := listTable(apps, now)
	return f.PrintTable(tab, func(width int) { fitList(tab, width) })
}

// listTable returns a row for each app; RESTARTS only if an app was restarted.
func listTable(apps []runner.Row, now time.Time) *ui.Table {
	tab := &ui.Table{Header: []string{"APP HANDLE", "APP NAME", "STATE", "COMPONENT", "AGE", "TIME", "EXIT", "RESTARTS"}}
	for i := range apps {
		a := &apps[i]
		age, took, exit := "", "", ""
		if a.SubmittedAt != nil {
			age = ui.Age(now.Sub(*a.SubmittedAt))
		}
		if end := cmp.Or(a.FinishedAt, &now); a.StartedAt != nil && (a.FinishedAt != nil || a.State == spec.Running) {
			took = ui.Took(end.Sub(*a.StartedAt))
			if a.FinishedAt == nil {
				took = ui.Took(end.Sub(*a.StartedAt).Truncate(time.Second))
			}
		}
		if a.ExitCode != nil {
			exit = strconv.Itoa(*a.ExitCode)
		}
		restarts := ""
		if a.NumRestarts > 0 {
			restarts = strconv.Itoa(a.NumRestarts)
		}
		tab.Add(ui.NewCell(a.Handle, ""), ui.NewCell(a.Name, ""), ui.NewCell(ui.StateText(a.State, a.Msg), stateColor(a.State)),
			ui.NewCell(a.Component, ""), ui.NewCell(age, ""), ui.NewCell(took, ""), ui.NewCell(exit, ""), ui.NewCell(restarts, ""))
	}
	if !slices.ContainsFunc(apps, func(a runner.Row) bool { return a.NumRestarts > 0 }) {
		tab.Drop("RESTARTS")
	}
	return tab
}

// leastComponent is the width that names of components keep as long as other columns fit.
const leastComponent = 8

// fitList makes the table at most width columns wide, if handles and states fit.
func fitList(tab *ui.Table, width int) {
	tab.Fit(width, "APP NAME")
	tab.Shorten("COMPONENT", width, leastComponent)
	tab.Fit(width, "COMPONENT", "TIME", "RESTARTS", "AGE")
}
