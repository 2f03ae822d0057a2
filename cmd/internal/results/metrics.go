// Package results shows what the replicas of an app have reported and written. The command metrics
// has a table of an app's series with curves, a live view, and all points as JSON or CSV. The
// command output lists, locates and copies the files that the app wrote to $TORCHX_OUTPUT.
package results

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// options are the flags of `metrics`.
type options struct {
	tail, json, csv, summary bool
	plot, log                bool
	x                        string
	patterns                 cli.StringSlice
}

// Values of --x.
const (
	xStep = "step"
	xTime = "time"
)

// XAxes are the values of --x.
var XAxes = []string{xStep, xTime}

// NewMetrics returns the command `metrics`.
func NewMetrics(f *program.Factory) *cli.Command {
	o := options{}
	return &cli.Command{
		Name:  "metrics",
		Usage: "show and plot metrics",
		UsageText: "HANDLE[/ROLE[/ID,...]]... [NAME...] [options]\n" +
			"torchx metrics -\n" +
			"torchx metrics - loss\n" +
			"torchx metrics -t -\n" +
			"torchx metrics - loss --csv\n" +
			"torchx metrics - --pattern 'loss=loss[=: ]+([-+.0-9eE]+)'",
		Description: "Show the series of numbers that apps recorded: the last, least and largest value, the number of values and the " +
			"last step of each, and on a terminal a plot. With NAMEs only these are shown and plotted; several apps share a plot. " +
			"Apps record metrics in $TORCHX_METRICS, by patterns over the log and in TensorBoard files (torchx help record-metrics). " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "tail", Aliases: []string{"t", "f", "follow"}, Usage: "refresh the screen every second until the apps end", Destination: &o.tail},
			&cli.StringFlag{Name: "x", Usage: "`AXIS` of the plot: step or time since the first value (default: step if there are steps)", Destination: &o.x},
			&cli.BoolFlag{Name: "log", Usage: "plot on a logarithmic scale, without values up to 0", Destination: &o.log},
			&cli.BoolFlag{Name: "plot", Usage: "plot also if the output is not a terminal", Destination: &o.plot},
			&cli.StringSliceFlag{
				Name: "pattern", Destination: &o.patterns,
				Usage: "instead of recorded metrics, find numbers in the log: the first group of a regular expression, `NAME=REGEX` (repeatable; NAME step is the step)",
			},
			program.JSONFlag(&o.json),
			&cli.BoolFlag{Name: "csv", Usage: "print all points as CSV", Destination: &o.csv},
			&cli.BoolFlag{Name: "summary", Usage: "with --json, leave out the points", Destination: &o.summary},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return program.Missing(c, "HANDLE")
			}
			if err := o.check(); err != nil {
				return err
			}
			return run(c.Context, f, c.Args().Slice(), &o)
		},
	}
}

// check returns a usage error for flags that do not fit together.
func (o *options) check() error {
	switch {
	case o.x != "" && !slices.Contains(XAxes, o.x):
		return program.Usagef("metrics", "unknown axis %s: it is step or time", ui.QuoteWord(o.x))
	case o.json && o.csv:
		return program.Usagef("metrics", "--json and --csv cannot be used together")
	case o.tail && (o.json || o.csv):
		return program.Usagef("metrics", "--tail refreshes a screen: it cannot be used with --json or --csv")
	case o.tail && len(o.patterns.Value()) > 0:
		return program.Usagef("metrics", "--tail and --pattern cannot be used together: --pattern reads the log once")
	case o.summary && !o.json:
		return program.Usagef("metrics", "--summary needs --json")
	}
	return nil
}

func run(ctx context.Context, f *program.Factory, arguments []string, o *options) (err error) {
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	v := &view{Factory: f, runner: r, options: o}
	if patterns := o.patterns.Value(); len(patterns) > 0 {
		remove, err := v.scanWith(patterns)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remove()) }()
	}
	if err := v.find(ctx, arguments); err != nil {
		return err
	}
	switch {
	case o.csv:
		return v.printCSV(ctx)
	case o.json:
		return v.printJSON(ctx)
	case o.tail:
		return v.follow(ctx)
	}
	v.explainIssues()
	return v.print(ctx)
}

// view is one call of the command.
type view struct {
	*program.Factory
	*options
	runner *runner.Runner
	apps   []*app
	names  []string // of metrics; none: all
	scan   *scan    // nil: recorded metrics
}

// print prints the table and, on a terminal, the plots.
func (v *view) print(ctx context.Context) error {
	if !v.hasMetrics() {
		return v.explainNone(ctx)
	}
	width, height := ui.DefaultWidth, defaultHeight
	screen, isFile := v.Out.(*os.File)
	onTerminal := isFile && ui.IsTerminal(screen)
	if onTerminal {
		width, height = screenSize(screen)
	}
	page, err := v.page(width, height-1, onTerminal, onTerminal || v.plot) // a line remains for the prompt
	if err != nil {
		return err
	}
	return v.Print(strings.Join(page, "\n") + "\n")
}
