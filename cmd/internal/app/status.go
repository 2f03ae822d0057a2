package app

import (
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
	roles string // comma list; "" is all
	json  bool
}

// NewStatus returns the command `status`.
func NewStatus(f *program.Factory) *cli.Command {
	o := statusOptions{}
	return &cli.Command{
		Name:        "status",
		Usage:       "show the state of an app and its replicas",
		UsageText:   "HANDLE [--roles A,B] [--json]\ntorchx status -\ntorchx status local://torchx/echo-f3k1 --json",
		Description: "Show the state of an app. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "roles", Usage: "only the roles `A,B`", Destination: &o.roles},
			program.JSONFlag(&o.json),
		},
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error { return status(ctx, f, r, ref, o) }),
	}
}

func status(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, o statusOptions) error {
	s, err := r.Status(ctx, ref)
	if err != nil {
		return err
	}
	if o.roles != "" {
		names := backend.SplitCSV(o.roles)
		warnUnknownRoles(f, s, names)
		ui.FilterRoles(s, names)
	}
	if o.json {
		return f.PrintMaskedJSON(s)
	}
	return f.Print(paintStates(f.Masked(ui.StatusText(s, time.Local)), f.OutStyle))
}

// warnUnknownRoles warns of roles that an app does not have: with a mistyped filter it
// would look like an app without replicas.
func warnUnknownRoles(f *program.Factory, s *spec.Status, names []string) {
	var known []string
	for _, r := range s.Roles {
		known = append(known, r.Role)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			f.Warn("%s has no role %s: it has %s", s.Handle, ui.QuoteWord(n), strings.Join(known, ", "))
		}
	}
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
