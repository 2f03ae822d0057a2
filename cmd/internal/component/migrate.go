package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/safefile"
	"torchx/starlark/migrate"
)

// migrateOptions are the flags of `migrate`.
type migrateOptions struct {
	output  string
	partial bool
	force   bool
	json    bool
}

// NewMigrate returns the command `migrate`.
func NewMigrate(f *program.Factory) *cli.Command {
	o := migrateOptions{}
	return &cli.Command{
		Name:  "migrate",
		Usage: "port a Python component",
		UsageText: "[-o FILE] [--partial] [--force] [--json] FILE.py\n" +
			"torchx migrate comp.py\n" +
			"torchx migrate -o comp.star comp.py",
		Description: "Print a Starlark file whose components give the same apps as the TorchX components in FILE.py. python3 parses the " +
			"file and the modules beside it that it imports; none of their code is executed. torchx then loads the port and builds the app of each " +
			"component that needs no arguments. Nothing is guessed: a component that cannot be ported is listed with its line and " +
			"the reason, fails with that reason when it is run, and makes the exit code 1. The other components are ported. See " +
			"`torchx help moving-from-torchx`.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` instead of stdout", Destination: &o.output},
			&cli.BoolFlag{Name: "partial", Usage: "write the file even if no component can be ported", Destination: &o.partial},
			&cli.BoolFlag{Name: "force", Usage: "overwrite an existing file", Destination: &o.force},
			&cli.BoolFlag{Name: "json", Usage: "print {text, components, problems, notes, hints} as JSON", Destination: &o.json},
		},
		Action: func(c *cli.Context) error {
			file, err := program.OneArgument(c, "FILE.py")
			if err != nil {
				return err
			}
			if o.json && o.output != "" {
				return program.Usagef("migrate", "--json prints to stdout: leave out -o")
			}
			return migrateFile(c.Context, f, file, o)
		},
	}
}

func migrateFile(ctx context.Context, f *program.Factory, file string, o migrateOptions) error {
	source, err := readPython(f.Env.Absolute(file))
	if err != nil {
		return fmt.Errorf("read %s: %w", file, program.PathCause(err))
	}
	port, err := migrate.Port(ctx, "python3", file, source, foldersOf(f, file, o))
	if err == nil {
		err = tryPort(ctx, f, file, port)
	}
	if err != nil {
		return err
	}
	if o.json {
		err = f.PrintJSON(port)
	} else {
		err = deliverPort(f, file, port, o)
	}
	if err == nil && len(port.Problems) > 0 {
		err = program.QuietError(program.ExitError)
	}
	return err
}

func foldersOf(f *program.Factory, file string, o migrateOptions) migrate.Folders {
	folders := migrate.Folders{Imports: []string{filepath.Dir(f.Env.Absolute(file)), f.Env.Dir}}
	if o.output != "" {
		folders.Output = filepath.Dir(f.Env.Absolute(o.output))
	}
	return folders
}

// readPython reads a regular file, since a pipe could block forever. It reads at most one byte
// more than Port accepts.
func readPython(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, errors.New("is a folder: name a .py file")
	}
	f, err := safefile.OpenInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, migrate.MaxSource+1))
}

// deliverPort prints or writes the port, with its notes and problems.
func deliverPort(f *program.Factory, file string, port *migrate.Result, o migrateOptions) error {
	for _, n := range port.Notes {
		f.Line("", "note: "+n.Error())
	}
	for _, h := range port.Hints {
		f.Line("", "hint: "+h.Error())
	}
	for _, p := range port.Problems {
		f.SayError(p.Error())
	}
	switch {
	case len(port.Problems) == 0:
	case len(port.Components) > 0:
		f.Line("", fmt.Sprintf("%s was partly ported: %s", file, strings.Join(port.Components, ", ")))
	case !o.partial:
		f.Line("", fmt.Sprintf("%s was not ported: fix the problems above", file))
		return nil
	}
	if o.output == "" {
		return f.Print(port.Text)
	}
	path := f.Env.Absolute(o.output)
	if err := program.CheckInside(f.ProjectRoot(), filepath.Dir(path)); err != nil {
		return err
	}
	if err := program.CreateWhole(path, []byte(port.Text), o.force, "leave out -o to print the result, or replace the file with --force"); err != nil {
		return err
	}
	f.Say("wrote %s: %s", f.ShortPath(path), strings.Join(port.Components, ", "))
	return nil
}
