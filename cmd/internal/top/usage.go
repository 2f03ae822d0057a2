package top

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/cmd/internal/ui/plot"
	"torchx/runtime/runner"
	"torchx/runtime/usage"
)

// usageOptions are the flags of `usage`.
type usageOptions struct {
	attempt           *int
	follow, json, csv bool
}

// NewUsage returns the command `usage`.
func NewUsage(f *program.Factory) *cli.Command {
	o := usageOptions{}
	var attempt string
	return &cli.Command{
		Name:  "usage",
		Usage: "show resource usage",
		UsageText: "HANDLE[/ROLE[/ID,...]] [-t] [--attempt K] [--json] [--csv]\n" +
			"torchx usage -\n" +
			"torchx usage echo/echo/0 --json\n" +
			"torchx usage --csv -",
		Description: "Show what each attempt of a replica used: CPU (100 % is one processor), memory of all its processes, bytes read and " +
			"written, threads and GPUs, as means, peaks and a line of blocks over time. --csv prints all samples. With -t the screen is " +
			"refreshed every second until the app ends, or q; without a terminal -t prints each new sample as CSV. " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "tail", Aliases: []string{"t", "f", "follow"}, Usage: "follow the usage until the app ends", Destination: &o.follow},
			&cli.StringFlag{Name: "attempt", Usage: "only the `K`-th attempt of each replica, counted from 0 (default: all)", Destination: &attempt},
			program.JSONFlag(&o.json),
			&cli.BoolFlag{Name: "csv", Usage: "print each sample as a line of CSV", Destination: &o.csv},
		},
		Action: func(c *cli.Context) error {
			target, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			if c.IsSet("attempt") {
				k, err := program.Count("usage", "--attempt", attempt)
				if err != nil {
					return err
				}
				n := int(k)
				o.attempt = &n
			}
			return showUsage(c.Context, f, target, o)
		},
	}
}

func showUsage(ctx context.Context, f *program.Factory, text string, o usageOptions) error {
	if o.json && (o.csv || o.follow) {
		return program.Usagef("usage", "--json cannot be used with --csv or --tail (use --csv --tail)")
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	v := usageView{f: f, options: o, recorder: usage.Recorder{Runner: r}, ascii: plot.NeedsASCII(f.Env.Get)}
	if v.ref, v.role, v.ids, err = r.ResolveLog(ctx, text); err != nil {
		return err
	}
	v.recorder.Ref = v.ref
	rec, err := v.read(ctx)
	if err != nil {
		return err
	}
	if err := r.CheckReplicas(ctx, v.ref, rec.Status, v.role, v.ids); err != nil {
		return err
	}
	screen, isFile := f.Out.(*os.File)
	canDraw := isFile && ui.IsTerminal(screen) && f.Env.Get("TERM") != "dumb"
	switch {
	case o.json:
		return f.PrintJSON(newUsageObject(v.ref, rec))
	case o.csv || o.follow && !canDraw:
		return v.printCSV(ctx, rec)
	case o.follow && !rec.Status.State.Terminal():
		if rec, err = v.watch(ctx, screen, rec); err != nil {
			return err
		}
	}
	return v.print(rec)
}

// usageView shows the usage of an app, or of some of its replicas.
type usageView struct {
	f        *program.Factory
	options  usageOptions
	recorder usage.Recorder
	ref      runner.Ref
	role     string
	ids      []int
	ascii    bool
}

// read returns the selected attempts.
func (v *usageView) read(ctx context.Context) (*usage.Record, error) {
	rec, err := v.recorder.Read(ctx)
	if err != nil {
		return nil, err
	}
	rec.Attempts = slices.DeleteFunc(rec.Attempts, func(a usage.Attempt) bool {
		return v.role != "" && a.Role != v.role || len(v.ids) > 0 &&
			!slices.Contains(v.ids, a.ID) ||
			v.options.attempt != nil && a.Attempt != *v.options.attempt
	})
	return rec, nil
}

// print prints the table, or in one line why nothing is known.
func (v *usageView) print(rec *usage.Record) error {
	if !slices.ContainsFunc(rec.Attempts, isKnown) {
		reason := rec.Unknown
		if len(rec.Attempts) > 0 {
			reason = cmp.Or(rec.Attempts[0].Unknown, reason)
		} else if v.options.attempt != nil {
			reason = "there is no such attempt"
		}
		v.f.Say("usage of %s is unknown: %s", v.ref.Handle(), cmp.Or(reason, "it has no replicas"))
		return nil
	}
	width := ui.ScreenWidth(v.f.Out)
	return v.f.Print(v.text(rec, width))
}

// isKnown reports whether the memory of an attempt is known.
func isKnown(a usage.Attempt) bool {
	return len(a.Samples) > 0 || a.MaxRSSBytes != nil
}

// usageInterval is the time between two looks with -t.
const usageInterval = time.Second
