package api

import (
	"context"
	"slices"
	"strings"

	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/secrets"
)

// restore returns the arguments of a form with the secrets that the form hides. They are
// --NAME=VALUE, and after "--" the rest, as Form has them.
func (a *API) restore(ctx context.Context, ref runner.Ref, args []string) ([]string, error) {
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, secrets.Hidden) }) {
		return args, nil
	}
	past, err := a.runner.Recorded(ctx, ref)
	if err != nil {
		return nil, err
	}
	options, rest := args, []string{}
	if i := slices.Index(args, "--"); i >= 0 {
		options, rest = args[:i], args[i+1:]
	}
	old, restored := history.ArgumentValues(past.Args), []string{}
	for _, arg := range options {
		flag, value, given := strings.Cut(arg, "=")
		if given {
			mask := func(value string) string {
				return strings.TrimPrefix(a.program.MaskedArgs([]string{flag + "=" + value})[0], flag+"=")
			}
			if value, err = secrets.Restore(old[history.ArgumentName(flag)], value, mask); err != nil {
				return nil, bad("%s: %v", flag, err)
			}
			arg = flag + "=" + value
		}
		restored = append(restored, arg)
	}
	if len(rest) == 0 {
		return restored, nil
	}
	lines := func(args []string) string { return strings.Join(args, "\n") }
	text, err := secrets.Restore(lines(history.RestArguments(old)), lines(rest), func(text string) string {
		return lines(a.program.MaskedArgs(strings.Split(text, "\n")))
	})
	if err != nil {
		return nil, bad("arguments: %v", err)
	}
	return append(append(restored, "--"), strings.Split(text, "\n")...), nil
}
