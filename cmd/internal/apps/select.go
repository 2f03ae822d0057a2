package apps

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

// Selection holds the flags by which a command selects apps instead of by handles.
type Selection struct {
	filters     filterFlags
	all         bool
	Yes, dryRun bool // of a command that changes apps
}

// Purpose is what a command does with the apps that it selects.
type Purpose struct {
	Command  string
	Verb     string // of questions and messages: "cancel", "wait for"
	Past     string // "canceled"
	Asks     bool   // before it acts on what flags select
	CanTake  func(spec.State) bool
	OnlyLive bool   // --all selects only apps that have not ended
	Refusal  string // why --state cannot have another state
}

// Selected is what a command line selects.
type Selected struct {
	Runner  *runner.Runner
	Targets []Target
	Several bool // it may select several apps, or none
}

// AnyState is a Purpose.CanTake that takes all apps.
func AnyState(spec.State) bool { return true }

// IsLive is a Purpose.CanTake that takes apps that have not ended.
func IsLive(s spec.State) bool { return !s.Terminal() }

// SelectHelp explains the flags that select apps.
const SelectHelp = "Instead of handles, --all or conditions as of `torchx list` select apps that were submitted from this TORCHX_HOME. "

const ownApps = "only apps of `BACKEND`"

// Flags returns the flags that select apps; all explains --all.
func (s *Selection) Flags(all string) []cli.Flag {
	return append(s.filters.flags(ownApps),
		&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: all, Destination: &s.all})
}

// ChangeFlags returns the flags of a command that asks before it changes selected apps.
func (s *Selection) ChangeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n", "dryrun"}, Usage: "only print the apps", Destination: &s.dryRun},
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask", Destination: &s.Yes},
	}
}

// Apps returns the apps that the command line selects, by handles or by flags. It has no
// targets if there is nothing to do, which apps has said.
func (s *Selection) Apps(
	c *cli.Context, f *program.Factory, p Purpose, handles []string,
) (Selected, error) {
	byFlags := s.all || s.filters.given(c)
	switch {
	case byFlags && len(handles) > 0:
		return Selected{}, program.Usagef(p.Command, "%s: give either handles, or --all and conditions such as --tag", ui.QuoteWord(handles[0]))
	case byFlags:
		return s.byFlags(c, f, p)
	case len(handles) == 0:
		return Selected{}, program.Missing(c, "HANDLE")
	}
	r, targets, err := resolveAll(c.Context, f, p.Command, handles)
	sel := Selected{r, targets, len(handles) > 1}
	if err == nil && s.dryRun {
		err = printNamed(c.Context, f, sel, p)
		sel.Targets = nil
	}
	return sel, err
}

func (s *Selection) byFlags(
	c *cli.Context, f *program.Factory, p Purpose,
) (sel Selected, err error) {
	asks := p.Asks && !s.Yes && !s.dryRun
	if asks && !f.CanAsk() {
		return sel, program.Usagef(p.Command,
			"no terminal to ask on: use --yes to %s apps, or --dry-run to list them", p.Verb)
	}
	sel.Several = true
	filter, err := s.filter(c, f, p)
	if err != nil {
		return sel, err
	}
	if sel.Runner, err = f.Runner(c.Context); err != nil {
		return sel, err
	}
	rows, err := sel.Runner.List(c.Context, filter)
	if err != nil {
		return sel, err
	}
	acts := p.OnlyLive || !p.CanTake(spec.Succeeded) // on running apps, which imported ones are not
	rows = slices.DeleteFunc(rows, func(a history.View) bool { return acts && a.Backend == history.Imported })
	all := len(rows)
	rows = slices.DeleteFunc(rows, func(a history.View) bool { return !p.CanTake(a.State) })
	if n := all - len(rows); n > 0 {
		f.Say("skipping %s: %s", ui.Counted(n, "app"), p.Refusal)
	}
	switch {
	case len(rows) == 0:
		f.Say("no app to %s", p.Verb)
		return sel, nil
	case s.dryRun:
		return sel, printDryRun(f, rows, p)
	case asks:
		if err := ask(c.Context, f, rows, p); err != nil {
			return sel, err
		}
	}
	for i := range rows {
		sel.Targets = append(sel.Targets, Target{Ref: rows[i].AppKey})
	}
	return sel, nil
}

// filter returns the filter of the flags: of apps of this home, in states that p takes.
func (s *Selection) filter(c *cli.Context, f *program.Factory, p Purpose) (runner.Filter, error) {
	filter, err := s.filters.filter(c, f)
	if err != nil {
		return filter, err
	}
	filter.All, filter.Recorded = true, true
	for _, state := range filter.States {
		if !p.CanTake(state) {
			return filter, program.Usagef(p.Command, "--state %s: %s",
				strings.ToLower(state.String()), p.Refusal)
		}
	}
	live := p.OnlyLive && s.all || !p.CanTake(spec.Succeeded)
	if live && len(filter.States) == 0 && !filter.Queued {
		filter.States = history.LiveStates()
	}
	return filter, nil
}

// shownToConfirm is how many apps a question is about at most that are listed with it.
const shownToConfirm = 50

// ask lists apps on stderr and asks whether to act on them. No is an error that has been explained.
func ask(ctx context.Context, f *program.Factory, rows []history.View, p Purpose) error {
	shown := rows[:min(len(rows), shownToConfirm)]
	onErr := f.With(func(c *program.Factory) { c.Out, c.OutStyle = c.Err, c.ErrStyle })
	if err := (&tableWriter{f: onErr, rows: shown}).end(); err != nil {
		return err
	}
	if more := len(rows) - len(shown); more > 0 {
		f.Line("", fmt.Sprintf("and %s (--dry-run lists all)", ui.Counted(more, "older app")))
	}
	yes, err := f.Confirm(ctx, fmt.Sprintf("%s %s?", p.Verb, ui.Counted(len(rows), "app")))
	if err == nil && !yes {
		f.Say("nothing %s", p.Past)
		err = program.QuietError(program.ExitError)
	}
	return err
}

func printDryRun(f *program.Factory, rows []history.View, p Purpose) error {
	if err := (&tableWriter{f: f, rows: rows}).end(); err != nil {
		return err
	}
	f.Say("would %s %s (dry run)", p.Verb, ui.Counted(len(rows), "app"))
	return nil
}

// printNamed prints which of the apps that handles name the command would act on.
func printNamed(ctx context.Context, f *program.Factory, sel Selected, p Purpose) error {
	var rows []history.View
	failed := EachApp(ctx, f, sel.Targets, Parallel, sel.Runner.View, func(ref runner.Ref, row history.View) error {
		if p.CanTake(row.State) {
			rows = append(rows, row)
		} else {
			f.Say("%s is %s: %s", ref.Handle(), row.State, p.Refusal)
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
