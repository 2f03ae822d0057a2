package compare

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
)

// NewTracker returns the group `tracker`, which answers from the history of torchx what TorchX
// asks a tracker.
func NewTracker(f *program.Factory) *cli.Command {
	return f.Group(&cli.Command{
		Name:  "tracker",
		Usage: "list what runs recorded",
		UsageText: "COMMAND ...\n" +
			"torchx tracker list jobs\n" +
			"torchx tracker list metadata -\n" +
			"torchx tracker list artifacts -",
		Description: "List runs, and what each recorded, in the tables of TorchX. No tracker has to be configured: the answers come from the " +
			"history and the output folders of torchx. What programs record by torchx.tracker in a folder is listed too, if " +
			"[torchx:tracker] and [tracker:NAME] of .torchxconfig, or $TORCHX_TRACKERS, name its fsspec tracker.",
		Subcommands: []*cli.Command{
			f.Group(&cli.Command{
				Name:  "list",
				Usage: "list jobs, metadata or artifacts",
				UsageText: "COMMAND ...\n" +
					"torchx tracker list jobs --parent-run-id -\n" +
					"torchx tracker list metadata echo\n" +
					"torchx tracker list artifacts --json -",
				Description: "List runs, what is known about one, or the files that one wrote.",
				Subcommands: []*cli.Command{newJobs(f), newMetadata(f), newArtifacts(f)},
			}),
		},
	})
}

func newJobs(f *program.Factory) *cli.Command {
	var parent string
	var asJSON bool
	return &cli.Command{
		Name:  "jobs",
		Usage: "list runs",
		UsageText: "[--parent-run-id HANDLE] [--json]\n" +
			"torchx tracker list jobs\n" +
			"torchx tracker list jobs --parent-run-id -",
		Description: "List the handles of all runs that were submitted from this TORCHX_HOME, newest first. Programs find theirs in " +
			"$TORCHX_JOB_ID. `torchx list` has more conditions and columns.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "parent-run-id", Aliases: []string{"parent"}, Usage: "only runs whose parent run is `HANDLE`, an app or another ID", Destination: &parent},
			program.JSONFlag(&asJSON),
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			if c.IsSet("parent-run-id") && parent == "" { // an unset variable of a script must not select all runs
				return program.Usagef(program.CommandName(c), "--parent-run-id is empty")
			}
			return listJobs(c.Context, f, parent, asJSON)
		},
	}
}

type jobObject struct {
	Handle string `json:"handle"`
	AppID  string `json:"app_id"`
}

func listJobs(ctx context.Context, f *program.Factory, parent string, asJSON bool) error {
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	if r.History == nil {
		return errNoHistory
	}
	var filter history.Filter
	if parent != "" {
		if filter.Parents, err = r.ParentIDs(ctx, parent); err != nil {
			return err
		}
	}
	jobs := []jobObject{}
	out := bufio.NewWriter(f.Out)
	if !asJSON {
		fmt.Fprintln(out, f.OutStyle.Paint(ui.AnsiBold, "JOB ID"))
	}
	err = r.History.Walk(ctx, filter, func(a *history.App) error {
		if asJSON {
			jobs = append(jobs, jobObject{a.Handle(), a.ID})
			return nil
		}
		_, err := fmt.Fprintln(out, ui.OneLine(a.Handle()))
		return err
	})
	if err == nil && asJSON {
		return f.PrintJSON(jobs)
	}
	return errors.Join(err, out.Flush())
}
