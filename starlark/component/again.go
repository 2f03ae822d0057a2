package component

import (
	"errors"
	"fmt"
	"slices"
)

// recordedError says that the arguments of an earlier run do not fit the
// component any more: what was typed now is not to blame.
type recordedError struct{ error }

func (e recordedError) Unwrap() error { return e.error }

// again joins the arguments of an earlier run with those that are given now: an
// option that is given now replaces the recorded one of its parameter, however
// the two are spelled, and values for *args replace all recorded ones; a "--"
// with nothing behind it takes those away. Errors: those of parseArgs, a
// recordedError.
func again(params []Param, recorded, args []string) ([]string, error) {
	if len(recorded) == 0 {
		return args, nil
	}
	now, err := parseArgs(params, args)
	if err != nil {
		return nil, err
	}
	then, err := parseArgs(params, recorded)
	if err != nil {
		return nil, recordedError{fmt.Errorf("the recorded arguments do not fit it any more: %w", plain(err))}
	}
	if len(args) == 0 {
		return recorded, nil
	}
	var out []string
	for _, o := range then.options {
		if _, anew := now.given[o.param]; !anew {
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

// plain keeps a recorded request for help, which nobody can make, from being one.
func plain(err error) error {
	if errors.Is(err, ErrHelp) {
		return errors.New("--help is one of them")
	}
	return err
}
