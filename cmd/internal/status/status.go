// Package status shows one app: the commands status, describe and events.
package status

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// statusOptions are the flags of `status`.
type statusOptions struct {
	roles  string // comma list; "" is all
	format string
	json   bool
}

// Layouts of --format.
const (
	formatJSON   = "json"
	formatTorchX = "torchx"
)

// NewStatus returns the command `status`.
func NewStatus(f *program.Factory) *cli.Command {
	o, s := statusOptions{}, &apps.Selection{}
	return &cli.Command{
		Name:  "status",
		Usage: "show the state of apps",
		UsageText: "HANDLE... [--roles A,B] [--format FORMAT] [--json]\n" +
			"torchx status -\n" +
			"torchx status --format torchx echo\n" +
			"torchx status --state failed --since 1d",
		Description: "Show the state of an app and why, when it was submitted, started and ended, and its replicas. Of many replicas " +
			"those that differ come first and equal ones share a line. " + program.HandleHelp + " " + apps.SelectHelp +
			"--json prints an object for a single HANDLE, otherwise an array with an object for each app.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "roles", Usage: "only the roles `A,B`", Destination: &o.roles},
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` json, or torchx for the layout of TorchX", Destination: &o.format},
			program.JSONFlag(&o.json),
		}, s.Flags("all apps")...),
		Action: func(c *cli.Context) error {
			o := o
			if o.json {
				o.format = cmp.Or(o.format, formatJSON)
			}
			if formats := []string{"", formatJSON, formatTorchX}; !slices.Contains(formats, o.format) || o.json && o.format != formatJSON {
				return program.Usagef("status", "--format %s: want json or torchx, and --json means --format json", ui.QuoteWord(o.format))
			}
			sel, err := s.Apps(c, f, apps.Purpose{Command: "status", Verb: "show", CanTake: apps.AnyState}, c.Args().Slice())
			if err != nil {
				return err
			}
			return status(c.Context, f, sel, o)
		},
	}
}

// status prints the status of apps: blocks of text with an empty line between them, or JSON.
func status(ctx context.Context, f *program.Factory, sel apps.Selected, o statusOptions) error {
	objects, blocks := []statusObject{}, 0
	act := func(ctx context.Context, ref runner.Ref) (statusOutput, error) {
		return readStatus(ctx, f, sel.Runner, ref, o)
	}
	failed := apps.EachApp(ctx, f, sel.Targets, apps.Parallel, act, func(_ runner.Ref, out statusOutput) error {
		if o.format == formatJSON {
			objects = append(objects, out.object)
			return nil
		}
		if blocks++; blocks > 1 {
			out.text = "\n" + out.text
		}
		return f.Print(out.text)
	})
	switch {
	case o.format != formatJSON || ctx.Err() != nil:
		return failed
	case sel.Several:
		return cmp.Or(f.PrintMaskedJSON(objects), failed)
	case failed == nil:
		return f.PrintMaskedJSON(objects[0])
	}
	return failed
}

// statusOutput is what is printed of an app.
type statusOutput struct {
	text   string
	object statusObject
}

func readStatus(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, o statusOptions,
) (out statusOutput, err error) {
	s, err := r.Status(ctx, ref)
	if err != nil {
		return out, err
	}
	if o.roles != "" {
		names := backend.SplitCSV(o.roles)
		if err := checkRoles(ctx, f, r, ref, s, names); err != nil {
			return out, err
		}
		ui.FilterRoles(s, names)
	}
	switch o.format {
	case formatJSON:
		d, err := r.Describe(ctx, ref)
		if err != nil {
			d = nil // all but the name is known
		}
		out.object = newStatusObject(ref, s, d)
		out.object.LastLines = append(out.object.LastLines, lastLines(ctx, r, ref, s)...)
		if trials := trialsOf(ctx, f, r, ref); trials != nil {
			out.object.Sweep = newSweepObject(trials, failpoint.Now())
		}
	case formatTorchX:
		out.text = paintStates(f.Masked(ui.TorchXStatus(s, time.Local)), f.OutStyle)
	default:
		page := newStatusPage(ctx, f, r, ref, s)
		out.text = page.text()
	}
	return out, nil
}

// lastLinesTimeout bounds the time to read the output of a failed app: it may be elsewhere.
const lastLinesTimeout = 5 * time.Second

// lastLines returns the last lines of a failed app, and none if they cannot be read.
func lastLines(ctx context.Context, r *runner.Runner, ref runner.Ref, s *spec.Status) []string {
	if s.State != spec.Failed {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lastLinesTimeout)
	defer cancel()
	lines, _ := r.LastLines(ctx, ref, s) // the status is known without them
	return lines
}

// checkRoles returns an error if the app has none of the roles, and warns of each that it
// does not have: with a mistyped filter it would look like an app without replicas.
func checkRoles(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref,
	s *spec.Status, names []string,
) error {
	var unknown []error
	for _, n := range names {
		if err := r.CheckReplicas(ctx, ref, s, n, nil); err != nil {
			unknown = append(unknown, err)
		}
	}
	if len(names) > 0 && len(unknown) == len(names) {
		return unknown[0]
	}
	for _, err := range unknown {
		f.Warn("%v", err)
	}
	return nil
}

// paintStates colors the names of states in a status text.
func paintStates(text string, s ui.Style) string {
	if !s.Color {
		return text
	}
	var pairs []string
	for state := spec.Unsubmitted; state <= spec.Unknown; state++ {
		for _, before := range []string{"State: ", "]:"} {
			pairs = append(pairs, before+state.String(),
				before+s.Paint(ui.StateColor(state), state.String()))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
