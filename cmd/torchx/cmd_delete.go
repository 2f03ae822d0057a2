package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
)

func (t *tool) deleteCommand() *cli.Command {
	var keepLogs bool
	return &cli.Command{
		Name:      "delete",
		Aliases:   []string{"rm"},
		Usage:     "remove apps, their logs and their history",
		UsageText: "HANDLE... [--keep-logs]\ntorchx delete echo-f3k1 echo-b2x9",
		Description: "Remove everything of apps that have ended; one that lives is cancelled first. " +
			"Logs in a log_dir of your own are kept. " + handleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "keep-logs", Usage: "keep the log files", Destination: &keepLogs},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usagef(commandName(c), "missing HANDLE")
			}
			return t.deleteAll(c.Context, c.Args().Slice(), keepLogs)
		},
	}
}

// deleteAll goes on after an app that cannot be deleted and fails at the end.
func (t *tool) deleteAll(ctx context.Context, handles []string, keepLogs bool) error {
	var failed error
	for _, h := range handles {
		err := t.delete(ctx, h, keepLogs)
		if err == nil {
			continue
		}
		if interrupted(ctx, err) || len(handles) == 1 {
			return err
		}
		t.explain(err)
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return quietError{exitCode(ctx, failed)}
	}
	return nil
}

func (t *tool) delete(ctx context.Context, text string, keepLogs bool) error {
	r, ref, err := t.resolve(ctx, text)
	if err != nil {
		return err
	}
	if err := r.Delete(ctx, ref, backend.DeleteOptions{KeepLogs: keepLogs}); err != nil {
		return err
	}
	t.say("%s is deleted", ref.Handle())
	return nil
}
