package apps

import (
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// filterFlags are the flags that select apps.
type filterFlags struct {
	backend, component, name     string
	since, until, parent, search string
	states, tags, where          cli.StringSlice
}

// flags returns the flags; where explains --backend.
func (o *filterFlags) flags(where string) []cli.Flag {
	return []cli.Flag{
		program.BackendFlag(&o.backend, where),
		&cli.StringFlag{Name: "component", Usage: "only apps of component `PATTERN`: dist.ddp, 'train.star:*'", Destination: &o.component},
		&cli.StringFlag{Name: "name", Usage: "only apps with name `PATTERN`: trainer, 'train*'", Destination: &o.name},
		&cli.StringSliceFlag{Name: "tag", Usage: "only apps with tag `KEY[=VALUE]` (repeatable: all of them)", Destination: &o.tags},
		&cli.StringSliceFlag{Name: "state", Usage: "only apps in state `S`, or queued (repeatable, or S,S2)", Destination: &o.states},
		&cli.StringFlag{Name: "since", Usage: "only apps submitted at `TIME` or later: RFC 3339, unix seconds or an age (10m, 2h, 3d)", Destination: &o.since},
		&cli.StringFlag{Name: "until", Usage: "only apps submitted before `TIME`", Destination: &o.until},
		&cli.StringFlag{Name: "parent", Usage: "only apps whose parent run is `HANDLE`, an app or another ID", Destination: &o.parent},
		&cli.StringSliceFlag{Name: "where", Usage: "only apps whose metric or argument compares as in `EXPR`: 'loss<0.3' (the last value), 'min(loss)<=0.3', 'max(acc)>0.9', 'lr=0.1', 'optimizer!=sgd'; a name that no metric has is an argument, arg(lr) always (repeatable)", Destination: &o.where},
		&cli.StringFlag{Name: "search", Usage: "only apps that have all words of `TEXT` in their ID, name, component, arguments, tags or note (base* is any word that begins so)", Destination: &o.search},
	}
}

// filterNames are the names of the flags.
var filterNames = []string{"backend", "component", "name", "tag", "state", "since", "until", "parent", "search", "where"}

// given reports whether the command line has one of the flags.
func (o *filterFlags) given(c *cli.Context) bool {
	return slices.ContainsFunc(filterNames, c.IsSet)
}

// filter returns the filter, with the default order and limit.
func (o *filterFlags) filter(c *cli.Context, f *program.Factory) (filter runner.Filter, err error) {
	command := program.CommandName(c)
	for _, name := range filterNames { // an unset variable of a script must not select all apps
		if c.IsSet(name) && c.String(name) == "" && len(c.StringSlice(name)) == 0 {
			return filter, program.Usagef(command, "--%s is empty", name)
		}
	}
	for _, pattern := range []struct{ flag, text string }{{"--component", o.component}, {"--name", o.name}} {
		if _, err := history.Pattern(pattern.text); err != nil {
			return filter, program.Usagef(command, "%s: %v", pattern.flag, err)
		}
	}
	filter.Component, filter.Name, filter.Search = o.component, o.name, o.search
	if o.search != "" && !strings.ContainsFunc(o.search, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return filter, program.Usagef(command, "--search %s has no letters or digits",
			ui.QuoteWord(o.search))
	}
	if filter.Backend, err = CanonicalBackend(f, command, o.backend); err != nil {
		return filter, err
	}
	if filter.States, filter.Queued, err = parseStatesOrQueued(command, o.states.Value()); err != nil {
		return filter, err
	}
	if filter.Tags, err = tagFilters(command, o.tags.Value()); err != nil {
		return filter, err
	}
	if filter.Metrics, err = metricFilters(command, o.where.Value()); err != nil {
		return filter, err
	}
	if err := o.times(command, &filter); err != nil || o.parent == "" {
		return filter, err
	}
	r, err := f.Runner(c.Context)
	if err != nil {
		return filter, err
	}
	filter.Parents, err = r.ParentIDs(c.Context, o.parent)
	return filter, err
}

func (o *filterFlags) times(command string, filter *runner.Filter) (err error) {
	now := failpoint.Now()
	if o.since != "" {
		if filter.Since, err = ui.ParseTime(o.since, now); err != nil {
			return program.Usagef(command, "--since: %v", err)
		}
	}
	if o.until != "" {
		if filter.Until, err = ui.ParseTime(o.until, now); err != nil {
			return program.Usagef(command, "--until: %v", err)
		}
		if !filter.Since.Before(filter.Until) {
			return program.Usagef(command, "--since %s is not before --until %s",
				ui.QuoteWord(o.since), ui.QuoteWord(o.until))
		}
	}
	return nil
}

func tagFilters(command string, texts []string) (filters []history.TagFilter, err error) {
	for _, text := range texts {
		key, value, hasValue, err := history.ParseTag(text)
		if err != nil {
			return nil, program.Usagef(command, "--tag: %v", err)
		}
		t := history.TagFilter{Key: key}
		if hasValue {
			t.Value = &value
		}
		filters = append(filters, t)
	}
	return filters, nil
}
