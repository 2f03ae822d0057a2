package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/config"
)

type configureOptions struct {
	backends string // separated by commas; "" means all
	all      bool   // also optional options
	print    bool
	force    bool
}

// NewConfigure returns the command `configure`.
func NewConfigure(f *program.Factory) *cli.Command {
	o := configureOptions{}
	return &cli.Command{
		Name:  "configure",
		Usage: "write a .torchxconfig",
		UsageText: "[-s BACKENDS] [-a] [--print] [--force]\n" +
			"torchx configure --print -a\n" +
			"torchx configure -s local,docker",
		Description: "Write .torchxconfig into the working folder, with a section for each backend: required options as placeholders to " +
			"fill in and, with -a, the other options with their defaults. An existing file is kept unless --force is given.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "backend", Aliases: []string{"b", "s", "schedulers", "scheduler"}, Usage: "only backends `A,B`", Destination: &o.backends},
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "include optional options", Destination: &o.all},
			&cli.BoolFlag{Name: "print", Usage: "print to stdout and write nothing", Destination: &o.print},
			&cli.BoolFlag{Name: "force", Usage: "overwrite an existing file", Destination: &o.force},
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return configure(f, o)
		},
	}
}

func configure(f *program.Factory, o configureOptions) error {
	sections, err := configSections(f, o)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := config.Write(&b, sections); err != nil {
		return err
	}
	if o.print {
		return f.Print(b.String())
	}
	path := filepath.Join(f.Env.Dir, config.FileName)
	if err := writeNew(path, b.Bytes(), o.force); err != nil {
		return err
	}
	f.Say("wrote %s", path)
	return nil
}

func configSections(f *program.Factory, o configureOptions) ([]config.Section, error) {
	reg, err := f.Registry()
	if err != nil {
		return nil, err
	}
	names := reg.Names()
	if o.backends != "" {
		names = backend.SplitCSV(o.backends)
	}
	var sections []config.Section
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		b, err := reg.Get(name)
		if err != nil {
			return nil, err
		}
		sections = append(sections, config.Section{Name: name, Values: backend.Placeholders(b.Options(), o.all)})
	}
	return sections, nil
}

// writeNew writes a file. Without force, it is an error if the file exists.
func writeNew(path string, data []byte, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	if info, err := os.Lstat(path); err == nil && force && !info.Mode().IsRegular() {
		return fmt.Errorf("write configuration: %s is not a regular file (remove it)", path)
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: show the new content with --print, or replace the file with --force", path)
	}
	if err != nil {
		return fmt.Errorf("write configuration: %s", strings.TrimPrefix(err.Error(), "open "))
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
