package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
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
	o := statusOptions{}
	return &cli.Command{
		Name:      "status",
		Usage:     "show an app's state",
		UsageText: "HANDLE [--roles A,B] [--format FORMAT]\ntorchx status -\ntorchx status --format torchx echo",
		Description: "Show the state of an app and why, when it was submitted, started and ended, and its replicas. Of many replicas " +
			"those that differ come first and equal ones share a line. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "roles", Usage: "only the roles `A,B`", Destination: &o.roles},
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` json, or torchx for the layout of TorchX", Destination: &o.format},
			program.JSONFlag(&o.json),
		},
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error { return status(ctx, f, r, ref, o) }),
	}
}

func status(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, o statusOptions) error {
	if o.json {
		o.format = cmp.Or(o.format, formatJSON)
	}
	if formats := []string{"", formatJSON, formatTorchX}; !slices.Contains(formats, o.format) || o.json && o.format != formatJSON {
		return program.Usagef("status", "--format %s: want json or torchx, and --json means --format json", ui.QuoteWord(o.format))
	}
	s, err := r.Status(ctx, ref)
	if err != nil {
		return err
	}
	if o.roles != "" {
		names := backend.SplitCSV(o.roles)
		if err := checkRoles(ctx, f, r, ref, s, names); err != nil {
			return err
		}
		ui.FilterRoles(s, names)
	}
	switch o.format {
	case formatJSON:
		d, err := r.Describe(ctx, ref)
		if err != nil {
			d = nil // all but the name is known
		}
		return f.PrintMaskedJSON(newStatusObject(ref, s, d))
	case formatTorchX:
		return f.Print(paintStates(f.Masked(ui.TorchXStatus(s, time.Local)), f.OutStyle))
	}
	page := newStatusPage(ctx, f, r, ref, s)
	return f.Print(page.text())
}

// checkRoles returns an error if the app has none of the roles, and warns of each that it
// does not have: with a mistyped filter it would look like an app without replicas.
func checkRoles(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, s *spec.Status, names []string) error {
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
			pairs = append(pairs, before+state.String(), before+s.Paint(stateColor(state), state.String()))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
