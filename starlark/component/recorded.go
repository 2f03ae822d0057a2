package component

import (
	"errors"
	"fmt"
	"slices"
)

// recordedError says that the arguments of an earlier run no longer fit. It is not a usage error.
type recordedError struct{ error }

func (e recordedError) Unwrap() error { return e.error }

// mergeRecorded joins the arguments of an earlier run with new ones. A new option replaces the
// recorded one of its parameter, new values for *args replace all recorded ones, and a final "--"
// removes those. Errors: those of parseArgs, a recordedError.
func mergeRecorded(params []Param, recorded, args []string) ([]string, error) {
	if len(recorded) == 0 {
		return args, nil
	}
	now, err := parseArgs(params, args)
	if err != nil {
		return nil, err
	}
	then, err := parseArgs(params, recorded)
	if errors.Is(err, ErrHelp) {
		err = errors.New("--help is one of them") // not a request for help now
	}
	if err != nil {
		return nil, recordedError{fmt.Errorf("the recorded arguments do not fit it any more: %w", err)}
	}
	if len(args) == 0 {
		return recorded, nil
	}
	var out []string
	for _, o := range then.options {
		if _, replaced := now.given[o.param]; !replaced {
			out = append(out, o.words...)
		}
	}
	for _, o := range now.options {
		out = append(out, o.words...)
	}
	rest := then.rest
	if now.closed {
		rest = now.rest
	}
	if len(rest) > 0 {
		// The mark keeps a switch in front of them from taking the first for its value.
		out = append(append(out, "--"), rest...)
	}
	return slices.Clip(out), nil
}
