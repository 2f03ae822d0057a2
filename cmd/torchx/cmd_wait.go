package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/runtime/spec"
)

func (t *tool) waitCommand() *cli.Command {
	return &cli.Command{
		Name:        "wait",
		Usage:       "wait for the end of an app",
		UsageText:   "HANDLE\ntorchx wait -",
		Description: "Wait until an app has ended and exit with its exit code. " + handleHelp + " Ctrl-C ends the waiting, not the app.",
		Action: func(c *cli.Context) error {
			handle, err := oneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return t.wait(c.Context, handle)
		},
	}
}

func (t *tool) wait(ctx context.Context, text string) error {
	r, ref, err := t.resolve(ctx, text)
	if err != nil {
		return err
	}
	s, err := r.Wait(ctx, ref)
	if err != nil {
		return err
	}
	t.say("%s: %s%s", ref.Handle(), s.State, after(s))
	return appExit(s)
}

// appExit ends the program with the app's own exit code.
func appExit(s *spec.Status) error {
	switch {
	case s.State == spec.Succeeded:
		return nil
	case s.State == spec.Cancelled:
		return quietError{exitInterrupted}
	case s.ExitCode != nil && *s.ExitCode != 0:
		return quietError{*s.ExitCode}
	}
	return quietError{exitError}
}
