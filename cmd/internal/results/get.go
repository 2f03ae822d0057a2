package results

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/outputs"
)

func newGet(f *program.Factory) *cli.Command {
	var to string
	var force bool
	return &cli.Command{
		Name:  "get",
		Usage: "copy files that an app wrote",
		UsageText: "HANDLE FILE... [-o DIR] [-f]\n" +
			"torchx output get - . -o results",
		Description: "Copy files and folders that an app wrote to $TORCHX_OUTPUT into DIR, which is created. A FILE is named as " +
			"`torchx output` lists it; . means all files. A file that exists in DIR is an error, and nothing is copied, unless --force " +
			"replaces it. Each file appears complete or not at all. " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Aliases: []string{"to"}, Usage: "copy into the folder `DIR`", Value: ".", Destination: &to},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "replace files that exist", Destination: &force},
		},
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return program.Missing(c, "HANDLE")
			case 1:
				return program.Usagef("output get", "missing FILE: `torchx output %s` lists files, . means all", c.Args().First())
			}
			return get(c.Context, f, c.Args().First(), c.Args().Tail(), f.Env.Absolute(to), force)
		},
	}
}

func get(
	ctx context.Context, f *program.Factory, handle string, files []string, to string, force bool,
) error {
	out, err := find(ctx, f, handle)
	if err != nil {
		return err
	}
	failed := false
	p := newProgress(f, out.Place, files)
	defer p.end()
	c := outputs.Copier{Replace: force, Copied: p.add, Failed: func(name string, err error) {
		failed = true
		f.Explain(fmt.Errorf("copy %s: %w%s", quoted(name), cause(err), remedy(out, err)))
	}}
	err = c.Copy(ctx, out.Place, files, to)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, outputs.ErrExists):
		return fmt.Errorf("copy to %s: %w (--force replaces files)", to, err)
	case err != nil:
		return err
	case failed:
		return program.QuietError(program.ExitError)
	}
	return nil
}

// remedy says how to read a file that belongs to the user of a container.
func remedy(out *backend.Output, err error) string {
	if out.Read == "" || !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	return fmt.Sprintf(" (it belongs to the user of the container: run `%s`)", out.Read)
}

// slowCopy is how long a copy may take before its progress is shown.
const slowCopy = time.Second

// progress shows how much is copied, if that takes long.
type progress struct {
	f           *program.Factory
	from        string
	files       []string
	began       time.Time
	done, total int64
	shown       bool
}

func newProgress(f *program.Factory, from string, files []string) *progress {
	return &progress{f: f, from: from, files: files, began: time.Now()}
}

func (p *progress) add(n int64) {
	p.done += n
	if !p.shown && time.Since(p.began) < slowCopy {
		return
	}
	if !p.shown {
		p.shown, p.total = true, outputs.Total(p.from, p.files)
	}
	p.tell(false)
}

func (p *progress) tell(ended bool) {
	p.f.Display.Tell(backend.Step{Name: "copy", Done: p.done, Total: p.total, Ended: ended})
}

func (p *progress) end() {
	if p.shown {
		p.tell(true)
	}
}
