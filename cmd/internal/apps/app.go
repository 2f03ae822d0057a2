// Package apps selects submitted apps, by handles or conditions, lists them and changes their
// labels: the commands list, tag and note.
package apps

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/humanize"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// ForApp returns the action of a command whose only argument names an app.
func ForApp(
	f *program.Factory, run func(ctx context.Context, r *runner.Runner, ref runner.Ref) error,
) cli.ActionFunc {
	return func(c *cli.Context) error {
		handle, err := program.OneArgument(c, "HANDLE")
		if err != nil {
			return err
		}
		r, ref, err := f.Resolve(c.Context, handle)
		if err != nil {
			return err
		}
		return run(c.Context, r, ref)
	}
}

// CanonicalBackend returns the canonical name of the backend in a flag, "" for none.
func CanonicalBackend(f *program.Factory, command, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	alias, err := f.Canonical(command, name)
	return alias.Backend, err
}

// ParseStates parses the values of --state.
func ParseStates(command string, texts []string) ([]spec.State, error) {
	var states []spec.State
	for _, name := range backend.SplitCSV(strings.Join(texts, ",")) {
		s, err := spec.ParseState(strings.ToUpper(name))
		if err != nil {
			known := append(StateNames(), strings.ToUpper(queuedState))
			return nil, program.Usagef(command, "unknown state %s: it is one of %s.%s", ui.QuoteWord(name),
				strings.Join(known, ", "), humanize.Hint(strings.ToUpper(name), known))
		}
		states = append(states, s)
	}
	return states, nil
}

// queuedState selects apps in the queue of this machine, which are PENDING.
const queuedState = "queued"

// parseStatesOrQueued parses the values of --state of a command that knows the queue.
func parseStatesOrQueued(
	command string, texts []string,
) (states []spec.State, queued bool, err error) {
	names := backend.SplitCSV(strings.Join(texts, ","))
	if len(texts) > 0 && len(names) == 0 {
		return nil, false, program.Usagef(command, "--state is empty")
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.EqualFold(name, queuedState) })
	states, err = ParseStates(command, rest)
	return states, len(rest) < len(names), err
}

// StateNames returns the names of all states.
func StateNames() []string { return stateNames(func(spec.State) bool { return true }) }

// TerminalStates returns the names of the states in which an app has ended.
func TerminalStates() []string { return stateNames(spec.State.Terminal) }

func stateNames(include func(spec.State) bool) []string {
	var names []string
	for s := spec.Unsubmitted; s <= spec.Unknown; s++ {
		if include(s) {
			names = append(names, s.String())
		}
	}
	return names
}
