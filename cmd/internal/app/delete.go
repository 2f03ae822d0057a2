package app

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
)

func NewDelete(t *program.Factory) *cli.Command {
	var keepLogs bool
	return &cli.Command{
		Name:      "delete",
		Aliases:   []string{"rm"},
		Usage:     "remove apps, their logs and their history",
		UsageText: "HANDLE... [--keep-logs]\ntorchx delete echo-f3k1 echo-b2x9",
		Description: "Remove everything of apps that have ended; one that lives is cancelled first. " +
			"Logs in a log_dir of your own are kept. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "keep-logs", Usage: "keep the log files", Destination: &keepLogs},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return program.Usagef(program.CommandName(c), "missing HANDLE")
			}
			return deleteAll(c.Context, t, c.Args().Slice(), keepLogs)
		},
	}
}

// deleteAll goes on after an app that cannot be deleted and fails at the end.
func deleteAll(ctx context.Context, t *program.Factory, handles []string, keepLogs bool) error {
	var failed error
	for _, h := range handles {
		err := deleteApp(ctx, t, h, keepLogs)
		if err == nil {
			continue
		}
		if program.Interrupted(ctx, err) || len(handles) == 1 {
			return err
		}
		t.Explain(err)
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return program.QuietError(program.ExitCode(ctx, failed))
	}
	return nil
}

func deleteApp(ctx context.Context, t *program.Factory, text string, keepLogs bool) error {
	r, ref, err := t.Resolve(ctx, text)
	if err != nil {
		return err
	}
	if err := r.Delete(ctx, ref, backend.DeleteOptions{KeepLogs: keepLogs}); err != nil {
		return err
	}
	t.Say("%s is deleted", ref.Handle())
	return nil
}
