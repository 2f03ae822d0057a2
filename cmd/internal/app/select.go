package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// selection holds the flags by which a command selects apps instead of by handles.
type selection struct {
	filters     filterFlags
	all         bool
	yes, dryRun bool // of a command that changes apps
}

// purpose is what a command does with the apps that it selects.
type purpose struct {
	command  string
	verb     string // of questions and messages: "cancel", "wait for"
	past     string // "canceled"
	asks     bool   // before it acts on what flags select
	canTake  func(spec.State) bool
	onlyLive bool   // --all selects only apps that have not ended
	refusal  string // why --state cannot have another state
}

// selected is what a command line selects.
type selected struct {
	runner  *runner.Runner
	targets []target
	several bool // it may select several apps, or none
}

func anyState(spec.State) bool { return true }

func isLive(s spec.State) bool { return !s.Terminal() }

// selectHelp explains the flags that select apps.
const selectHelp = "Instead of handles, --all or conditions as of `torchx list` select apps that were submitted from this TORCHX_HOME. "

const ownApps = "only apps of `BACKEND`"

// flags returns the flags that select apps; all explains --all.
func (s *selection) flags(all string) []cli.Flag {
	return append(s.filters.flags(ownApps), &cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: all, Destination: &s.all})
}

// changeFlags returns the flags of a command that asks before it changes selected apps.
func (s *selection) changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n", "dryrun"}, Usage: "only print the apps", Destination: &s.dryRun},
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask", Destination: &s.yes},
	}
}

// apps returns the apps that the command line selects, by handles or by flags. It has no
// targets if there is nothing to do, which apps has said.
func (s *selection) apps(c *cli.Context, f *program.Factory, p purpose, handles []string) (selected, error) {
	byFlags := s.all || s.filters.given(c)
	switch {
	case byFlags && len(handles) > 0:
		return selected{}, program.Usagef(p.command, "%s: give either handles, or --all and conditions such as --tag", ui.QuoteWord(handles[0]))
	case byFlags:
		return s.byFlags(c, f, p)
	case len(handles) == 0:
		return selected{}, program.Missing(c, "HANDLE")
	}
	r, targets, err := resolveAll(c.Context, f, p.command, handles)
	sel := selected{r, targets, len(handles) > 1}
	if err == nil && s.dryRun {
		err = printNamed(c.Context, f, sel, p)
		sel.targets = nil
	}
	return sel, err
}

func (s *selection) byFlags(c *cli.Context, f *program.Factory, p purpose) (sel selected, err error) {
	asks := p.asks && !s.yes && !s.dryRun
	if asks && !f.CanAsk() {
		return sel, program.Usagef(p.command, "no terminal to ask on: use --yes to %s apps, or --dry-run to list them", p.verb)
	}
	sel.several = true
	filter, err := s.filter(c, f, p)
	if err != nil {
		return sel, err
	}
	if sel.runner, err = f.Runner(c.Context); err != nil {
		return sel, err
	}
	rows, err := sel.runner.List(c.Context, filter)
	if err != nil {
		return sel, err
	}
	all := len(rows)
	rows = slices.DeleteFunc(rows, func(a runner.Row) bool { return !p.canTake(a.State) })
	if n := all - len(rows); n > 0 {
		f.Say("skipping %s: %s", ui.Counted(n, "app"), p.refusal)
	}
	switch {
	case len(rows) == 0:
		f.Say("no app to %s", p.verb)
		return sel, nil
	case s.dryRun:
		return sel, printDryRun(f, rows, p)
	case asks:
		if err := ask(c.Context, f, rows, p); err != nil {
			return sel, err
		}
	}
	for i := range rows {
		sel.targets = append(sel.targets, target{ref: runner.Ref{Backend: rows[i].Backend, ID: rows[i].AppID}})
	}
	return sel, nil
}

// filter returns the filter of the flags: of apps of this home, in states that p takes.
func (s *selection) filter(c *cli.Context, f *program.Factory, p purpose) (runner.Filter, error) {
	filter, err := s.filters.filter(c, f)
	if err != nil {
		return filter, err
	}
	filter.All, filter.Recorded = true, true
	for _, state := range filter.States {
		if !p.canTake(state) {
			return filter, program.Usagef(p.command, "--state %s: %s", strings.ToLower(state.String()), p.refusal)
		}
	}
	live := p.onlyLive && s.all || !p.canTake(spec.Succeeded)
	if live && len(filter.States) == 0 && !filter.Queued {
		filter.States = history.LiveStates()
	}
	return filter, nil
}

// shownToConfirm is how many apps a question is about at most that are listed with it.
const shownToConfirm = 50

// ask lists apps on stderr and asks whether to act on them. No is an error that has been explained.
func ask(ctx context.Context, f *program.Factory, rows []runner.Row, p purpose) error {
	shown := rows[:min(len(rows), shownToConfirm)]
	onErr := f.With(func(c *program.Factory) { c.Out, c.OutStyle = c.Err, c.ErrStyle })
	if err := (&tableWriter{f: onErr, rows: shown}).end(); err != nil {
		return err
	}
	if more := len(rows) - len(shown); more > 0 {
		f.Line("", fmt.Sprintf("and %s (--dry-run lists all)", ui.Counted(more, "older app")))
	}
	yes, err := f.Confirm(ctx, fmt.Sprintf("%s %s?", p.verb, ui.Counted(len(rows), "app")))
	if err == nil && !yes {
		f.Say("nothing %s", p.past)
		err = program.QuietError(program.ExitError)
	}
	return err
}

func printDryRun(f *program.Factory, rows []runner.Row, p purpose) error {
	if err := (&tableWriter{f: f, rows: rows}).end(); err != nil {
		return err
	}
	f.Say("would %s %s (dry run)", p.verb, ui.Counted(len(rows), "app"))
	return nil
}

// printNamed prints which of the apps that handles name the command would act on.
func printNamed(ctx context.Context, f *program.Factory, sel selected, p purpose) error {
	var rows []runner.Row
	failed := eachApp(ctx, f, sel.targets, parallel, sel.runner.Row, func(ref runner.Ref, row runner.Row) error {
		if p.canTake(row.State) {
			rows = append(rows, row)
		} else {
			f.Say("%s is %s: %s", ref.Handle(), row.State, p.refusal)
		}
		return nil
	})
	if len(rows) == 0 {
		return failed
	}
	if err := printDryRun(f, rows, p); err != nil {
		return err
	}
	return failed
}
