package apps

import (
	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// LimitedSelection selects a limited number of apps: by handles, or by the conditions of
// `torchx list`.
type LimitedSelection struct {
	Selection
	limit int
}

// Flags returns the flags that select apps.
func (s *LimitedSelection) Flags(limit int) []cli.Flag {
	return append(s.filters.flags(ownApps),
		&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N` apps of those that conditions select, the newest, or trials of a sweep, the best", Value: limit, Destination: &s.limit})
}

// Limit returns how many apps are selected at most.
func (s *LimitedSelection) Limit() int { return s.limit }

// Refs returns the apps that the command line selects: in the order of handles, or newest first.
func (s *LimitedSelection) Refs(
	c *cli.Context, f *program.Factory, verb string,
) (*runner.Runner, []runner.Ref, error) {
	if s.limit < 1 {
		return nil, nil, program.Usagef(program.CommandName(c), "--limit must be 1 or more")
	}
	selected, err := s.Apps(c, f, Purpose{Command: program.CommandName(c), Verb: verb, CanTake: AnyState}, c.Args().Slice())
	if err != nil {
		return nil, nil, err
	}
	var refs []runner.Ref
	for _, t := range selected.Targets {
		if t.Err != nil {
			return nil, nil, t.Err
		}
		refs = append(refs, t.Ref)
	}
	if len(refs) > s.limit && c.NArg() == 0 {
		f.Say("%s of %d (--limit compares more)", ui.Counted(s.limit, "newest app"), len(refs))
		refs = refs[:s.limit]
	}
	return selected.Runner, refs, nil
}
