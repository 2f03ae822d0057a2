package apps

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/humanize"
	"torchx/runtime/runner"
)

// listOptions are the flags of `list`.
type listOptions struct {
	filterFlags
	cfg         string
	all         bool
	noTrials    bool
	limit, sort string
	offset      string
	output      string
	columns     string
	values      bool
	json, quiet bool
}

// NewList returns the command `list`.
func NewList(f *program.Factory) *cli.Command {
	o := &listOptions{}
	return &cli.Command{
		Name:    "list",
		Aliases: []string{"ps", "ls"},
		Usage:   "list and find apps",
		UsageText: "[-b BACKEND] [--tag K[=V]] [--state S] [--since TIME] [--search TEXT] [--sort ORDER] [--limit N] [-o FORMAT]\n" +
			"torchx list\n" +
			"torchx list --state failed --since 2d\n" +
			"torchx list --tag team=vision --sort duration\n" +
			"torchx list --component 'dist.*' --search 'baseline lr' -o wide\n" +
			"torchx list --where 'loss<0.3' --where 'max(acc)>0.9'\n" +
			"torchx list --columns app_id,state,lr,'min(loss)' --sort 'min(loss)' -o csv\n" +
			"torchx list -q --state running\n" +
			"torchx list --all -o jsonl\n" +
			"torchx list --offset 50 --limit 50 -o page\n" +
			"torchx list -o 'go-template={{.app_id}} {{.state}}'",
		Description: "List the apps that were submitted from this TORCHX_HOME, newest first, at most 50. With -b the backend itself is " +
			"asked, too, which adds apps that others submitted. Tables have the trials of sweeps only with --all or a condition, such as " +
			"--parent SWEEP. Several conditions must all hold. In a PATTERN * stands for any " +
			"text, ? for one character and [ab] for one of several. jsonl prints one JSON object per line and csv one row per " +
			"app, both while they are read. A go-template has the names of --json as fields and is printed once per app, each " +
			"followed by a newline, unless it ranges over all of them: {{range .}}...{{end}}. page prints a JSON object with the apps and the " +
			"number of all that match, for programs that read a list in parts by --offset and --limit.",
		Flags: append(o.flags("only apps of `BACKEND`, including apps that others submitted (default: scheduler of [cli:list])"),
			program.CfgFlag(&o.cfg),
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "list all apps, without a limit", Destination: &o.all},
			&cli.BoolFlag{Name: "no-trials", Usage: "leave out the trials of sweeps, in all formats", Destination: &o.noTrials},
			&cli.StringFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N` apps (default: 50)", Destination: &o.limit},
			&cli.StringFlag{Name: "offset", Usage: "leave out the first `N` apps", Destination: &o.offset},
			&cli.StringFlag{Name: "sort", Usage: "`ORDER` " + strings.Join(ListOrders, ", ") + ", or a metric or an argument: loss, min(loss), acc:desc, lr (default: submitted)", Destination: &o.sort},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FORMAT` " + strings.Join(ListFormats, ", ") + "TEMPLATE (default: table)", Destination: &o.output},
			&cli.StringFlag{Name: "columns", Usage: "`C,C2` of tables and csv: names of --json, metrics (loss, min(loss), max(acc)) and arguments (lr)", Destination: &o.columns},
			&cli.BoolFlag{Name: "values", Usage: "add the arguments and the values of metrics to JSON", Destination: &o.values},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print handles only, as -o name does", Destination: &o.quiet},
			program.JSONFlag(&o.json),
		),
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return list(c, f, o)
		},
	}
}

func list(c *cli.Context, f *program.Factory, o *listOptions) error {
	out, err := o.writer(f)
	if err != nil {
		return err
	}
	filter, err := o.filter(c, f)
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
	r, err := f.Runner(c.Context)
	if err != nil {
		return err
	}
	printed, masked := false, labelMasker(f)
	filter.Values = o.values || o.columns != ""
	err = r.Walk(c.Context, filter, func(a *history.View) error {
		printed, a.Labels = true, masked(a.Labels)
		if filter.Values {
			a.Args = f.MaskedArgs(a.Args)
		}
		return out.add(a)
	})
	if err != nil && (!printed || !errors.Is(err, backend.ErrUnavailable)) {
		return err
	}
	if m := filter.SortMetric; m != nil && !printed && err == nil {
		known, err := r.List(c.Context, runner.Filter{SortMetric: m, Limit: 1})
		if err == nil && len(known) == 0 {
			return program.Usagef("list", "unknown order %s: it is one of %s, or a metric or an argument, and no app has one of that name.%s",
				ui.QuoteWord(o.sort), strings.Join(ListOrders, ", "), humanize.Hint(o.sort, ListOrders))
		}
		if _, table := out.(*tableWriter); table && err == nil {
			f.Say("no app of this list has the metric %s%s", m.Name, trialsHint(filter))
		}
	}
	if page, ok := out.(*pageWriter); ok {
		page.Offset = filter.Offset
		total, err := r.Count(c.Context, filter)
		if page.Total = total; err != nil && !errors.Is(err, backend.ErrUnavailable) {
			return err
		}
	}
	return cmp.Or(out.end(), err)
}

// trialsHint says how trials are listed if a filter leaves them out.
func trialsHint(filter runner.Filter) string {
	if !filter.NoTrials {
		return ""
	}
	return ", without the trials of sweeps (see --all)"
}

// filter returns the selected apps, their order and number.
func (o *listOptions) filter(c *cli.Context, f *program.Factory) (filter runner.Filter, err error) {
	if filter, err = o.filterFlags.filter(c, f); err != nil {
		return filter, err
	}
	if filter.Backend == "" {
		conf, err := f.Config()
		if err != nil {
			return filter, err
		}
		defaults := conf.Cli("list")
		if filter.Backend, err = CanonicalBackend(f, "list", cmp.Or(defaults["scheduler"], defaults["backend"])); err != nil {
			return filter, err
		}
	}
	if filter.Sort, filter.SortMetric, err = parseOrder(o.sort); err != nil {
		return filter, err
	}
	filter.All = o.all
	table := o.output == "" || o.output == listFormatTable || o.output == listFormatWide
	filter.NoTrials = o.noTrials || table && !o.all && !o.json && !o.quiet && !o.given(c)
	if o.offset != "" {
		offset, err := program.Count("list", "--offset", o.offset)
		if err != nil {
			return filter, err
		}
		filter.Offset = int(offset)
	}
	filter.Limit, err = listLimit(o)
	return filter, err
}

// ListOrders are the values of --sort besides metrics, the default first.
var ListOrders = []string{"submitted", "started", "ended", "duration", "state"}

// parseOrder returns the order of a name in ListOrders, or that of a metric.
func parseOrder(name string) (history.Sort, *history.MetricSort, error) {
	for order, known := range ListOrders { // in the order of history.Sort
		if known == cmp.Or(name, ListOrders[0]) {
			return history.Sort(order), nil, nil
		}
	}
	m, err := parseMetricSort("list", name)
	return 0, m, err
}

// listCfg parses -cfg. It warns if it has no effect; an invalid value is an error.
func listCfg(f *program.Factory, backendName, cfg string) (backend.Layer, error) {
	if backendName != "" {
		return f.BackendCfg(backendName, cfg)
	}
	layer, err := backend.CfgLayer(cfg)
	if err == nil && len(layer) > 0 {
		f.Warn("-cfg has no effect without -b: it tells the backend where to look")
	}
	return layer, err
}

func listLimit(o *listOptions) (int, error) {
	switch {
	case o.limit != "" && o.all:
		return 0, program.Usagef("list", "--all and --limit cannot be used together")
	case o.limit == "":
		return runner.DefaultLimit, nil
	}
	n, err := strconv.Atoi(o.limit)
	if err != nil || n < 1 {
		return 0, program.Usagef("list", "--limit must be a whole number from 1, not %s",
			ui.QuoteWord(o.limit))
	}
	return n, nil
}
