package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

type statusOptions struct {
	handle string
	roles  string // comma list; "" is all
	json   bool
}

func (t *tool) statusCommand() *cli.Command {
	o := statusOptions{}
	return &cli.Command{
		Name:        "status",
		Usage:       "show the state of an app and its replicas",
		UsageText:   "HANDLE [--roles A,B] [--json]\ntorchx status -\ntorchx status local://torchx/echo-f3k1 --json",
		Description: "Show the state of an app. " + handleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "roles", Usage: "only the roles `A,B`", Destination: &o.roles},
			jsonFlag(&o.json),
		},
		Action: func(c *cli.Context) (err error) {
			if o.handle, err = oneArgument(c, "HANDLE"); err != nil {
				return err
			}
			return t.status(c.Context, o)
		},
	}
}

// handleHelp explains what stands for an app on the command line.
const handleHelp = "HANDLE is what `torchx run` printed (backend://session/app_id), any unique beginning of an app id, or - for the app that was submitted last."

func (t *tool) status(ctx context.Context, o statusOptions) error {
	r, err := t.runner(ctx)
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
		t.warnUnknownRoles(s, names)
		filterRoles(s, names)
	}
	if o.json {
		return t.printMaskedJSON(s)
	}
	return t.print(paintStates(t.masked(statusText(s, time.Local)), t.outStyle))
}

// warnUnknownRoles names the roles that an app does not have: a mistyped filter
// would otherwise look like an app without replicas.
func (t *tool) warnUnknownRoles(s *spec.Status, names []string) {
	var known []string
	for _, r := range s.Roles {
		known = append(known, r.Role)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			t.warn("%s has no role %s: it has %s", s.Handle, quoteWord(n), strings.Join(known, ", "))
		}
	}
}

// filterRoles leaves only the named roles in a status.
func filterRoles(s *spec.Status, names []string) {
	s.Roles = slices.DeleteFunc(s.Roles, func(r spec.RoleStatus) bool { return !slices.Contains(names, r.Role) })
}

// stateColor is the ANSI colour of a state.
func stateColor(s spec.State) string {
	switch s {
	case spec.Succeeded:
		return ansiGreen
	case spec.Failed:
		return ansiRed
	case spec.Cancelled:
		return ansiYellow
	case spec.Running:
		return ansiBlue
	}
	return ""
}

// paintStates colours the names of states in a status text.
func paintStates(text string, s style) string {
	if !s.color {
		return text
	}
	var pairs []string
	for state := spec.Unsubmitted; state <= spec.Unknown; state++ {
		for _, before := range []string{"State: ", "]:"} {
			pairs = append(pairs, before+state.String(), before+s.paint(stateColor(state), state.String()))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
