// Package transfer moves apps between homes: export writes them to an archive (package portable), import
// reads it. Another home shows them, and acts on nothing.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/portable"
	"torchx/runtime/runner"
	"torchx/runtime/safefile"
)

// extension ends the names of archives.
const extension = ".tar.zst"

// exportOptions are the flags of `export`.
type exportOptions struct {
	to             string
	outputs, force bool
}

// NewExport returns the command `export`.
func NewExport(f *program.Factory) *cli.Command {
	o := exportOptions{}
	return &cli.Command{
		Name:  "export",
		Usage: "write apps to a file",
		UsageText: "HANDLE... [-o FILE] [--outputs]\n" +
			"torchx export -\n" +
			"torchx export - --outputs -o run.tar.zst",
		Description: "Write what is known of apps to one file, for a bug report or another machine: what was submitted, status, logs, " +
			"metrics, usage, and the git commit with uncommitted changes. A sweep takes its trials along. `torchx import` shows them in another TORCHX_HOME. " +
			"Values that look like secrets are replaced by ****** in all of it but outputs, also in logs, unless --show-secrets is given. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Aliases: []string{"to"}, Usage: "write to `FILE`, - for stdout (default: APP_ID" + extension + ")", Destination: &o.to},
			&cli.BoolFlag{Name: "outputs", Usage: "include the files that the apps wrote to $TORCHX_OUTPUT, unchanged", Destination: &o.outputs},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "replace a file that exists", Destination: &o.force},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return program.Missing(c, "HANDLE")
			}
			return export(c.Context, f, c.Args().Slice(), o)
		},
	}
}

func export(ctx context.Context, f *program.Factory, handles []string, o exportOptions) error {
	if o.to == "-" && ui.IsTerminal(f.Out) {
		return program.Usagef("export", "an archive is not written to a terminal: redirect it, or give -o FILE")
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	refs, err := resolve(ctx, r, handles)
	if err != nil {
		return err
	}
	if o.to == "" {
		o.to = safefile.Escape(refs[0].ID) + extension
	}
	e := &exporter{Factory: f, runner: r, exportOptions: o}
	if o.to == "-" {
		return e.within(os.TempDir(), func() error { return e.write(ctx, f.Out, refs) })
	}
	path := f.Env.Absolute(o.to)
	if _, err := os.Lstat(path); err == nil && !o.force {
		return program.ExistsError(o.to, "choose another name, or use --force")
	}
	err = e.within(filepath.Dir(path), func() error { return e.writeFile(ctx, path, refs) })
	if err != nil {
		return fmt.Errorf("export to %s: %w", o.to, program.PathCause(err))
	}
	return f.Printf("%s\n", o.to)
}

// resolve returns the apps of handles, and the trials of those that are sweeps, each once.
func resolve(ctx context.Context, r *runner.Runner, handles []string) (refs []runner.Ref, err error) {
	add := func(ref runner.Ref) {
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, handle := range handles {
		ref, err := r.Resolve(ctx, handle)
		if err != nil {
			return nil, err
		}
		if _, err := r.Status(ctx, ref); err != nil {
			return nil, err
		}
		if add(ref); !r.IsSweep(ref) {
			continue
		}
		trials, err := r.List(ctx, runner.Filter{Parents: []string{ref.ID}, All: true, Recorded: true})
		if err != nil {
			return nil, err
		}
		for i := range trials {
			add(trials[i].AppKey)
		}
	}
	return refs, nil
}

// exporter is one call of the command.
type exporter struct {
	*program.Factory
	exportOptions
	runner *runner.Runner
	dir    string // for temporary files
}

// within calls do with a temporary folder in dir.
func (e *exporter) within(dir string, do func() error) (err error) {
	if e.dir, err = os.MkdirTemp(dir, ".torchx-export-*"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(e.dir)) }()
	return do()
}

// writeFile writes the archive so that it appears complete or not at all.
func (e *exporter) writeFile(ctx context.Context, path string, refs []runner.Ref) error {
	f, err := os.OpenFile(filepath.Join(e.dir, "archive"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(e.write(ctx, f, refs), f.Close()); err != nil {
		return err
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	e.Say("exported %s, %s%s", ui.Counted(len(refs), "app"), ui.BytesText(info.Size()), e.remarks())
	return nil
}

func (e *exporter) remarks() string {
	text := "; secrets are hidden"
	if e.ShowSecrets {
		text = "; secrets are not hidden"
	}
	if !e.outputs {
		text += ", outputs are left out (--outputs)"
	}
	return text
}

func (e *exporter) write(ctx context.Context, to io.Writer, refs []runner.Ref) error {
	w, err := portable.NewWriter(to, program.Version, len(refs), func(name string, err error) {
		e.Warn("left out of %s: %v", name, err)
	})
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := e.add(ctx, w, ref); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}
