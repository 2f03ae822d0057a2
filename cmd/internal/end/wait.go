package end

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
	"torchx/runtime/runner"
)

// NewWait returns the command `wait`.
func NewWait(f *program.Factory) *cli.Command {
	o, s, timeout := follow.WaitOptions{}, &apps.Selection{}, ""
	return &cli.Command{
		Name:  "wait",
		Usage: "wait until apps end",
		UsageText: "HANDLE... [--timeout DURATION] [-q]\n" +
			"torchx wait -\n" +
			"torchx wait --tag sweep=7 --timeout 2h",
		Description: "Wait until all apps have ended, print how each ended, and exit with the exit code of the app: of several, that of the " +
			"first that did not succeed, in the order of the command line. " +
			program.HandleHelp + " " + apps.SelectHelp + "Then the first is the newest, and apps that have ended count, too. " +
			"Ctrl-C stops waiting; the apps go on.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "timeout", Usage: "wait at most `DURATION` for all apps together (90, 10m, 2h), then exit with 124; the apps go on", Destination: &timeout},
			apps.QuietFlag(&o.Quiet),
		}, s.Flags("all apps that have not ended")),
		Action: func(c *cli.Context) (err error) {
			if o.Timeout, err = parseTimeout(c, timeout); err != nil {
				return err
			}
			sel, err := s.Apps(c, f, waiting, c.Args().Slice())
			if err != nil || len(sel.Targets) == 0 {
				return err
			}
			return waitAll(c.Context, f, sel.Runner, sel.Targets, o)
		},
	}
}

var waiting = apps.Purpose{Command: "wait", Verb: "wait for", CanTake: apps.AnyState, OnlyLive: true}

func parseTimeout(c *cli.Context, text string) (time.Duration, error) {
	if !c.IsSet("timeout") {
		return 0, nil
	}
	d, err := humanize.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, program.Usagef("wait", "--timeout must be a duration above 0 such as 90, 10m or 2h, not %s", ui.QuoteWord(text))
	}
	return d, nil
}

// waitAll explains first which handles name no app.
func waitAll(ctx context.Context, f *program.Factory, r *runner.Runner, targets []apps.Target,
	o follow.WaitOptions,
) error {
	var apps []runner.Ref
	exits := make([]error, len(targets))
	for i, t := range targets {
		switch {
		case t.Err == nil:
			apps = append(apps, t.Ref)
		case len(targets) == 1:
			return t.Err
		default:
			f.Explain(t.Err)
			exits[i] = program.QuietError(program.ExitCode(ctx, t.Err))
		}
	}
	ends, err := follow.Wait(ctx, f, r, apps, o)
	if err != nil {
		return err
	}
	for i, t := range targets {
		if t.Err == nil {
			exits[i], ends = ends[0], ends[1:]
		}
	}
	return cmp.Or(exits...)
}
