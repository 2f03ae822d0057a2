// Package top shows what apps use: the commands top and usage.
package top

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
	"torchx/runtime/usage"
)

// TopOrders are the orders of `top`, by the key that chooses each: its first letter.
var TopOrders = []string{"submitted", "cpu", "memory", "elapsed", "name"}

// topOptions are the flags of `top`.
type topOptions struct {
	order      string
	once, json bool
}

// NewTop returns the command `top`.
func NewTop(f *program.Factory) *cli.Command {
	o := topOptions{}
	return &cli.Command{
		Name:  "top",
		Usage: "watch running apps",
		UsageText: "[--sort ORDER] [--once] [--json]\n" +
			"torchx top\n" +
			"torchx top --once --sort memory",
		Description: "Show running apps and their replicas, and apps that ended within the last minute: state, CPU (100 % is one " +
			"processor), resident memory of all processes, elapsed time, attempt and the last line of output. The screen is " +
			"refreshed every second until q or Ctrl-C. The arrow keys select an app or a replica: Enter shows its log, a leaves " +
			"top for `torchx attach`, x cancels the app after a question. / filters by ID, component and state; s, c, m, e " +
			"and n choose the order. Without a terminal the table is printed once. CPU and memory cover processes on this machine; CPU is the average of the last " +
			"second, with --once of the whole attempt. Those of pods are what metrics.k8s.io of their cluster says, read every ten seconds.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "sort", Usage: "`ORDER` " + strings.Join(TopOrders, ", ") + " (default: submitted, newest first)", Destination: &o.order},
			&cli.BoolFlag{Name: "once", Usage: "print the table once", Destination: &o.once},
			&cli.BoolFlag{Name: "json", Usage: "print the table once, as JSON", Destination: &o.json},
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return top(c.Context, f, o)
		},
	}
}

// topObject is an element of `top --json`.
type topObject struct {
	apps.AppObject
	NumRestarts int `json:"num_restarts"`
	usage.Amounts
	Replicas []usage.Replica `json:"replicas"`
}

func topObjects(measured []*usage.App) []topObject {
	objects := make([]topObject, len(measured))
	for i, a := range measured {
		objects[i] = topObject{apps.NewAppObject(&a.View), a.NumRestarts, a.Amounts, a.Replicas}
	}
	return objects
}

func top(ctx context.Context, f *program.Factory, o topOptions) error {
	if o.order == "" {
		o.order = TopOrders[0]
	}
	if !slices.Contains(TopOrders, o.order) {
		return program.Usagef("top", "unknown order %s: it is one of %s.%s", ui.QuoteWord(o.order),
			strings.Join(TopOrders, ", "), humanize.Hint(o.order, TopOrders))
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	screen, ok := f.Out.(*os.File)
	if ok && !o.once && !o.json && ui.IsTerminal(screen) && f.Env.Get("TERM") != "dumb" {
		handle, err := WatchTop(ctx, f.Console, r, screen, o.order)
		if err != nil || handle == "" {
			return err
		}
		return attach(f, handle)
	}
	s := usage.NewSampler(r)
	apps, err := s.Sample(ctx, time.Now())
	if err != nil {
		return err
	}
	sortTop(apps, o.order)
	s.ReadLastLines(ctx, apps, 0, maxTopLines)
	cleanLines(apps)
	if o.json {
		return f.PrintJSON(topObjects(apps))
	}
	tab := topTable(apps)
	return f.PrintTable(tab, func(width int) { cutLines(tab, width) })
}
