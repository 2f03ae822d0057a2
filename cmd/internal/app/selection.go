package app

import (
	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// Selection selects apps for a command of another room: by handles, or by the conditions of
// `torchx list`.
type Selection struct {
	selection
	limit int
}

// Flags returns the flags that select apps.
func (s *Selection) Flags(limit int) []cli.Flag {
	return append(s.filters.flags(ownApps),
		&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N` apps of those that conditions select, the newest, or trials of a sweep, the best", Value: limit, Destination: &s.limit})
}

// Limit returns how many apps are selected at most.
func (s *Selection) Limit() int { return s.limit }

// Refs returns the apps that the command line selects: in the order of handles, or newest first.
func (s *Selection) Refs(c *cli.Context, f *program.Factory, verb string) (*runner.Runner, []runner.Ref, error) {
	if s.limit < 1 {
		return nil, nil, program.Usagef(program.CommandName(c), "--limit must be 1 or more")
	}
	selected, err := s.apps(c, f, purpose{command: program.CommandName(c), verb: verb, canTake: anyState}, c.Args().Slice())
	if err != nil {
		return nil, nil, err
	}
	var refs []runner.Ref
	for _, t := range selected.targets {
		if t.err != nil {
			return nil, nil, t.err
		}
		refs = append(refs, t.ref)
	}
	if len(refs) > s.limit && c.NArg() == 0 {
		f.Say("%s of %d (--limit compares more)", ui.Counted(s.limit, "newest app"), len(refs))
		refs = refs[:s.limit]
	}
	return selected.runner, refs, nil
}
