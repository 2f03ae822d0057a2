package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

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

func (t *tool) listCommand() *cli.Command {
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
			backendFlag(&o.backend, "only apps of `BACKEND`, also those it knows by itself"),
			cfgFlag(&o.cfg),
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "all apps, however many", Destination: &o.all},
			&cli.StringFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N` apps (default: 50)", Destination: &o.limit},
			&cli.StringSliceFlag{Name: "state", Usage: "only apps in state `S` (repeatable, or S,S2)", Destination: &states},
			&cli.StringFlag{Name: "since", Usage: "only apps submitted at `TIME` or later: RFC 3339, unix seconds or an age (10m, 2h, 3d)", Destination: &o.since},
			jsonFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			o.states = states.Value()
			return t.list(c.Context, o)
		},
	}
}

func (t *tool) list(ctx context.Context, o listOptions) error {
	filter, err := t.listFilter(o)
	if err != nil {
		return err
	}
	r, err := t.runner(ctx)
	if err != nil {
		return err
	}
	apps, unavailable := r.List(ctx, filter)
	if unavailable != nil && len(apps) == 0 {
		return unavailable
	}
	if o.json {
		err = t.printJSON(apps)
	} else {
		err = t.listTable(apps, failpoint.Now())
	}
	return cmp.Or(err, unavailable)
}

func (t *tool) listFilter(o listOptions) (f runner.Filter, err error) {
	if o.backend != "" {
		alias, err := t.canonical("list", o.backend)
		if err != nil {
			return f, err
		}
		f.Backend = alias.Backend
	}
	if err := t.checkListCfg(f.Backend, o.cfg); err != nil {
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
		if f.Since, err = parseTime(o.since, failpoint.Now()); err != nil {
			return f, usagef("list", "--since: %v", err)
		}
	}
	return f, nil
}

// checkListCfg says which options mean nothing; a value that cannot be used is an error.
func (t *tool) checkListCfg(backendName, cfg string) error {
	layer, err := backend.CfgLayer(cfg)
	if err != nil || len(layer) == 0 {
		return err
	}
	t.given = layer
	if backendName == "" {
		t.warn("-cfg is ignored: it tells a backend where to look, and goes with -b")
		return nil
	}
	reg, err := t.registry()
	if err != nil {
		return err
	}
	b, err := reg.Get(backendName)
	if err != nil {
		return err
	}
	for _, w := range backend.Unused(b.Options(), layer) {
		t.warn("%s", w)
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
		return 0, usagef("list", "--all and --limit cannot be used together")
	case o.limit == "":
		return runner.DefaultLimit, nil
	}
	n, err := strconv.Atoi(o.limit)
	if err != nil || n < 1 {
		return 0, usagef("list", "--limit must be a whole number from 1, not %s", quoteWord(o.limit))
	}
	return n, nil
}

func parseStates(command string, texts []string) ([]spec.State, error) {
	var states []spec.State
	for _, name := range backend.SplitCSV(strings.Join(texts, ",")) {
		s, err := spec.ParseState(strings.ToUpper(name))
		if err != nil {
			known := stateNames()
			return nil, usagef(command, "unknown state %s: it is one of %s.%s", quoteWord(name),
				strings.Join(known, ", "), suggest.Hint(strings.ToUpper(name), known))
		}
		states = append(states, s)
	}
	return states, nil
}

func stateNames() []string {
	var names []string
	for s := spec.Unsubmitted; s <= spec.Unknown; s++ {
		names = append(names, s.String())
	}
	return names
}

func (t *tool) listTable(apps []runner.Row, now time.Time) error {
	tab := table{header: []string{"APP HANDLE", "APP NAME", "STATE", "COMPONENT", "SUBMITTED", "EXIT"}}
	for _, a := range apps {
		submitted, exit := "", ""
		if a.SubmittedAt != nil {
			submitted = age(now.Sub(*a.SubmittedAt)) + " ago"
		}
		if a.ExitCode != nil {
			exit = strconv.Itoa(*a.ExitCode)
		}
		tab.add(cell{a.Handle, ""}, cell{a.Name, ""}, cell{stateText(a.State, a.Msg), stateColor(a.State)},
			cell{a.Component, ""}, cell{submitted, ""}, cell{exit, ""})
	}
	if width := screenWidth(t.out); width > 0 {
		tab.fit(width, "APP NAME", "COMPONENT", "SUBMITTED")
	}
	return tab.write(t.out, t.outStyle)
}

// after says how long an app ran, if that is known.
func after(s *spec.Status) string {
	if s.StartedAt == nil || s.FinishedAt == nil {
		return ""
	}
	return fmt.Sprintf(" after %s", s.FinishedAt.Sub(*s.StartedAt).Round(time.Millisecond))
}
