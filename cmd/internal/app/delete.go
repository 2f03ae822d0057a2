package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/outputs"
	"torchx/runtime/runner"
)

// NewDelete returns the command `delete`.
func NewDelete(f *program.Factory) *cli.Command {
	o := runner.DeleteOptions{}
	return &cli.Command{
		Name:    "delete",
		Aliases: []string{"rm"},
		Usage:   "remove apps and logs",
		UsageText: "HANDLE... [--keep-logs] [-f]\n" +
			"torchx delete echo\n" +
			"torchx run -d utils.sh sleep 60\n" +
			"torchx delete -f -",
		Description: "Remove apps that have ended: their records, files and logs. An app that has not ended is an error, unless --force " +
			"cancels it first. Logs in your own log_dir and outputs in your own output_dir are kept. " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "keep-logs", Usage: "keep the log files", Destination: &o.KeepLogs},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "cancel apps that have not ended, then remove them", Destination: &o.Force},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return program.Missing(c, "HANDLE")
			}
			return eachApp(c.Context, f, c.Args().Slice(), func(ctx context.Context, handle string) error {
				return deleteApp(ctx, f, handle, o)
			})
		},
	}
}

func deleteApp(ctx context.Context, f *program.Factory, handle string, o runner.DeleteOptions) error {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return err
	}
	kept := keptOutput(ctx, r, ref)
	stop := f.SayIfSlow("waiting for %s to end (torchx cancel --force %s kills it)", ref.Handle(), ref.Handle())
	err = r.Delete(ctx, ref, o)
	stop()
	if err != nil {
		return err
	}
	f.Say("deleted %s%s", ref.Handle(), kept)
	return nil
}

// keptOutput says where on this machine the outputs stay of an app that will be deleted.
func keptOutput(ctx context.Context, r *runner.Runner, ref runner.Ref) string {
	if b, err := r.Backends.Get(ref.Backend); err != nil || !backend.RunsHere(b) {
		return ""
	}
	out, err := r.Output(ctx, ref)
	if err != nil || !out.Kept || !outputs.HasFiles(out.Place) {
		return ""
	}
	return "; its outputs stay in " + out.Place
}
