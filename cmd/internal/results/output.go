package results

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/outputs"
)

// NewOutput returns the command `output`.
func NewOutput(f *program.Factory) *cli.Command {
	var asJSON, asPath bool
	return &cli.Command{
		Name:  "output",
		Usage: "list the files of an app",
		UsageText: "HANDLE [--path] [--json]\n" +
			"torchx output -\n" +
			"torchx output --path echo\n" +
			"torchx output get - . -o results",
		Description: "List the files that an app wrote to the folder $TORCHX_OUTPUT, with their sizes. `torchx output get` copies them. " +
			"The folder belongs to the app: all replicas and attempts share it, and `torchx delete` and `torchx prune` remove it, unless " +
			"-cfg output_dir or -cfg output chose another place. " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "path", Usage: "print where the folder is", Destination: &asPath},
			program.JSONFlag(&asJSON),
		},
		Args:        true,
		Subcommands: []*cli.Command{newGet(f)},
		Action: func(c *cli.Context) error {
			handle, err := program.OneArgument(c, "HANDLE")
			switch {
			case err != nil:
				return err
			case asPath && asJSON:
				return program.Usagef("output", "--path cannot be used with --json")
			case asPath:
				return printPath(c.Context, f, handle)
			}
			return list(c.Context, f, handle, asJSON)
		},
	}
}

func printPath(ctx context.Context, f *program.Factory, handle string) error {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return err
	}
	out, err := r.Output(ctx, ref)
	if err != nil {
		return err
	}
	return f.Printf("%s\n", out.Place)
}

// find returns the folder of an app's outputs if it is on this machine.
func find(ctx context.Context, f *program.Factory, handle string) (*backend.Output, error) {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return nil, err
	}
	out, err := r.Output(ctx, ref)
	if err != nil {
		return nil, err
	}
	if !out.Here {
		return nil, fmt.Errorf("the outputs of %s are in %s, which only a pod can read: run `%s`",
			ref.Handle(), out.Place, out.Read)
	}
	return out, nil
}

func list(ctx context.Context, f *program.Factory, handle string, asJSON bool) error {
	out, err := find(ctx, f, handle)
	if err != nil {
		return err
	}
	l := newListing(f, asJSON)
	err = outputs.Walk(out.Place, func(e outputs.Entry) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return l.add(e)
	})
	if err = l.end(err); err != nil {
		return err
	}
	if !asJSON {
		f.Say("%s, %s in %s", ui.Counted(l.files, "file"), ui.BytesText(l.size), out.Place)
	}
	if l.unread {
		return program.QuietError(program.ExitError)
	}
	return nil
}
