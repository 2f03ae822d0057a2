package transfer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/humanize"
	"torchx/runtime/portable"
	"torchx/runtime/runner"
	"torchx/runtime/safefile"
)

// maxSize is the default of --max-size.
const maxSize = "16GiB"

// NewImport returns the command `import`.
func NewImport(f *program.Factory) *cli.Command {
	var limit string
	return &cli.Command{
		Name:  "import",
		Usage: "show apps of another machine",
		UsageText: "FILE...\n" +
			"torchx import run.tar.zst",
		Description: "Read apps that `torchx export` wrote, - for stdin, and print their handles, imported://torchx/APP_ID. They are listed, shown and compared like others, " +
			"in the state that they had when they were exported. They can be deleted, but not canceled, waited for or rerun. Importing a file again changes nothing; " +
			"a later export of the same app replaces the earlier one.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "max-size", Usage: "refuse a file whose contents exceed `SIZE`, such as 500MiB", Value: maxSize, Destination: &limit},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return program.Missing(c, "FILE")
			}
			bytes, err := humanize.ParseBytes(limit)
			if err != nil {
				return program.Usagef("import", "--max-size: %v", err)
			}
			for _, file := range c.Args().Slice() {
				if err := importFile(c.Context, f, file, bytes); err != nil {
					return fmt.Errorf("import %s: %w", file, program.PathCause(err))
				}
			}
			return nil
		},
	}
}

func importFile(ctx context.Context, f *program.Factory, file string, limit int64) (err error) {
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	home, err := f.Env.Home()
	if err != nil {
		return err
	}
	in := f.Input(ctx)
	if file != "-" {
		if in, err = safefile.OpenInput(f.Env.Absolute(file)); err != nil {
			return err
		}
	}
	defer in.Close()
	if err := os.MkdirAll(portable.Root(home), 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(portable.Root(home), ".incoming-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	i := importer{f, r, home, dir}
	return i.unpack(ctx, in, limit)
}

// importer imports one file.
type importer struct {
	*program.Factory
	runner *runner.Runner
	home   string
	dir    string // of what is unpacked, in home
}

func (i *importer) unpack(ctx context.Context, in io.Reader, limit int64) error {
	left := 0
	u := portable.Unpacker{MaxBytes: limit, Skipped: func(name string, err error) {
		if left++; left == 1 {
			i.Warn("left out: %s: %v", name, err)
		}
	}}
	folders, err := u.Unpack(ctx, in, i.dir)
	if err != nil {
		return err
	}
	if left > 1 {
		i.Warn("left out %s in all", ui.Counted(left, "file"))
	}
	for _, dir := range folders {
		run, err := portable.Load(dir)
		if err != nil {
			return err
		}
		ref, err := i.take(ctx, run, dir)
		if err != nil {
			return err
		}
		if err := i.Printf("%s\n", ref.Handle()); err != nil {
			return err
		}
	}
	return nil
}

// take makes an unpacked app one of this home, unless it is that already.
func (i *importer) take(
	ctx context.Context, run *portable.Run, dir string,
) (ref runner.Ref, err error) {
	if own, ok := i.own(ctx, run); ok {
		i.Say("%s is an app of this home: it is not imported", own.Handle())
		return own, nil
	}
	row := run.Row()
	target := portable.Folder(i.home, run.ID())
	old, err := portable.Load(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return row.AppKey, err
	case !run.Same(old):
		return row.AppKey, fmt.Errorf("another app %s is imported already, from %s: delete it first (torchx delete %s)", run.ID(), old.Origin.Host, row.Handle())
	case !run.Origin.ExportedAt.After(old.Origin.ExportedAt):
		i.Say("%s is imported already", row.Handle())
		if _, err := i.runner.History.Get(ctx, row.Backend, row.ID); err == nil {
			return row.AppKey, nil
		}
		run, dir = old, target // the history lost it
	default: // an imported app keeps what the user noted here
		if known, err := i.runner.History.Get(ctx, row.Backend, row.ID); err == nil {
			run.Labels = known.Labels
		}
		if err := os.Rename(target, filepath.Join(i.dir, "old-"+filepath.Base(dir))); err != nil {
			return row.AppKey, err
		}
	}
	if dir != target {
		run.Origin.ImportedAt = new(time.Now().UTC())
		if err := run.Save(dir); err != nil {
			return row.AppKey, err
		}
		if err := os.Rename(dir, target); err != nil {
			return row.AppKey, err
		}
	}
	return row.AppKey, i.record(ctx, run, target)
}

// own returns the app of this home that a run was exported from.
func (i *importer) own(ctx context.Context, run *portable.Run) (runner.Ref, bool) {
	ref, err := i.runner.Resolve(ctx, run.Origin.Handle)
	if err != nil || ref.ID != run.ID() || i.runner.History == nil {
		return ref, false
	}
	row, err := i.runner.History.Get(ctx, ref.Backend, ref.ID)
	return ref, err == nil && row.SubmittedAt.Equal(*run.SubmittedAt)
}

// record adds an app, whose files are in dir, to the history.
func (i *importer) record(ctx context.Context, run *portable.Run, dir string) error {
	a := runner.Imported{Row: run.Row(), Status: run.Status}
	for _, e := range run.Events {
		if e.Kind == history.EventBackend {
			a.Events = append(a.Events, e)
		}
	}
	diff, err := safefile.ReadFile(filepath.Join(dir, portable.DiffFile), portable.MaxRecord)
	if err == nil {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(diff); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		a.Diff = packed.Bytes()
	}
	return i.runner.Import(ctx, a)
}
