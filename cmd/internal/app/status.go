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
	"torchx/runtime/spec"
)

type statusOptions struct {
	handle string
	roles  string // comma list; "" is all
	json   bool
}

func NewStatus(t *program.Factory) *cli.Command {
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
		Action: func(c *cli.Context) (err error) {
			if o.handle, err = program.OneArgument(c, "HANDLE"); err != nil {
				return err
			}
			return status(c.Context, t, o)
		},
	}
}

func status(ctx context.Context, t *program.Factory, o statusOptions) error {
	r, err := t.Runner(ctx)
	if err != nil {
		return err
	}
	ref, err := r.Resolve(ctx, o.handle)
	if err != nil {
		return err
	}
	s, err := r.Status(ctx, ref)
	if err != nil {
		return err
	}
	if o.roles != "" {
		names := backend.SplitCSV(o.roles)
		warnUnknownRoles(t, s, names)
		ui.FilterRoles(s, names)
	}
	if o.json {
		return t.PrintMaskedJSON(s)
	}
	return t.Print(paintStates(t.Masked(ui.StatusText(s, time.Local)), t.OutStyle))
}

// warnUnknownRoles names the roles that an app does not have: a mistyped filter
// would otherwise look like an app without replicas.
func warnUnknownRoles(t *program.Factory, s *spec.Status, names []string) {
	var known []string
	for _, r := range s.Roles {
		known = append(known, r.Role)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			t.Warn("%s has no role %s: it has %s", s.Handle, ui.QuoteWord(n), strings.Join(known, ", "))
		}
	}
}

// stateColor is the ANSI colour of a state.
func stateColor(s spec.State) string {
	switch s {
	case spec.Succeeded:
		return ui.AnsiGreen
	case spec.Failed:
		return ui.AnsiRed
	case spec.Cancelled:
		return ui.AnsiYellow
	case spec.Running:
		return ui.AnsiBlue
	}
	return ""
}

// paintStates colours the names of states in a status text.
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
