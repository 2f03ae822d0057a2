package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/runtime/suggest"
)

// topOrders are the orders of `top`, by the key that chooses each: its first letter.
var topOrders = []string{"submitted", "cpu", "memory", "elapsed", "name"}

type topOptions struct {
	order      string
	once, json bool
}

func (t *tool) topCommand() *cli.Command {
	o := topOptions{}
	return &cli.Command{
		Name:      "top",
		Usage:     "watch running apps: CPU, memory, last lines",
		UsageText: "[--sort ORDER] [--once] [--json]\ntorchx top\ntorchx top --once --sort memory",
		Description: "Show running apps with their replicas, and those that ended within the last minute: state, CPU (100 % is one " +
			"processor), resident memory of all processes, time, attempt and the last line of output. It is drawn anew each second " +
			"until q or Ctrl-C; the keys s, c, m, e and n choose the order, the arrows scroll. Where there is no terminal the table is printed once. " +
			"CPU and memory are those of this machine's processes; CPU is the average of the last second, with --once that of the whole attempt.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "sort", Usage: "`ORDER` " + strings.Join(topOrders, ", ") + " (default: submitted, newest first)", Destination: &o.order},
			&cli.BoolFlag{Name: "once", Usage: "print the table once", Destination: &o.once},
			&cli.BoolFlag{Name: "json", Usage: "print it once as JSON", Destination: &o.json},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return t.top(c.Context, o)
		},
	}
}

func (t *tool) top(ctx context.Context, o topOptions) error {
	if o.order == "" {
		o.order = topOrders[0]
	}
	if !slices.Contains(topOrders, o.order) {
		return usagef("top", "unknown order %s: it is one of %s.%s", quoteWord(o.order),
			strings.Join(topOrders, ", "), suggest.Hint(o.order, topOrders))
	}
	r, err := t.runner(ctx)
	if err != nil {
		return err
	}
	s := newSampler(r)
	screen, ok := t.out.(*os.File)
	if ok && !o.once && !o.json && isTerminal(screen) && t.env.get("TERM") != "dumb" {
		return t.watchTop(ctx, s, screen, o.order)
	}
	apps, err := s.sample(ctx, time.Now())
	if err != nil {
		return err
	}
	sortTop(apps, o.order)
	s.lastLines(ctx, apps, 0, maxTopLines)
	if o.json {
		return t.printJSON(apps)
	}
	tab := topTable(apps)
	if width := screenWidth(t.out); width > 0 {
		cutLines(tab, width)
	}
	return tab.write(t.out, t.outStyle)
}
