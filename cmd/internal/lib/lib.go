// Package lib has the commands for the project's component libraries.
package lib

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/library"
)

// NewLib returns the group `lib`.
func NewLib(f *program.Factory) *cli.Command {
	return f.Group(&cli.Command{
		Name:  "lib",
		Usage: "add, fetch, lock and check component libraries of the project",
		UsageText: "COMMAND ...\n" +
			"torchx lib add acme https://github.com/acme/components.git v1.2.0\n" +
			"torchx lib update acme@v1.3.0\n" +
			"torchx run @acme//train.star:ddp --help",
		Description: libHelp,
		Subcommands: []*cli.Command{
			libAddCommand(f), libRemoveCommand(f),
			libAllCommand(f, "sync", "fetch what is locked, lock what is new", "Make the libraries be here as "+library.LockFile+" has them: fetch those that are not, "+
				"and lock those that are listed and not locked yet. A commit that is locked stays.", libSync),
			libUpdateCommand(f),
			libAllCommand(f, "vendor", "keep the files in the project", "Put the files of all libraries into "+library.VendorDir+", which is then read instead of the cache: "+
				"neither that nor the network is needed any more. Commands that change the lock keep the folder in step.", libVendor),
			libAllCommand(f, "verify", "compare all files with the lock", "Compare every file of every library with its SHA-256 in "+library.LockFile+
				", and exit with 1 if one differs or is not there.", libVerify),
			libListCommand(f),
		},
	})
}

const libHelp = "Libraries are folders of .star files that projects share, loaded as load(\"@NAME//x.star\", ...).\n" +
	library.ProjectFile + " at the project's root lists them, a line each:\n" +
	"`lib NAME URL REVISION [path=FOLDER]`: a git repository (https, ssh, file), or a folder of it;\n" +
	"`lib NAME FOLDER`: a folder of this machine; `replace NAME FOLDER`: read that instead, as it is, while you work on both.\n" +
	library.LockFile + " holds the commit and the SHA-256 of every file: nothing else is loaded. Commit both files.\n" +
	"`run` never fetches. With --offline nothing does, but from file:// URLs."

// action runs one of the commands with its arguments.
type action func(ctx context.Context, f *program.Factory, m *library.Manager, args []string) error

// lib runs an action on the project's libraries.
func lib(f *program.Factory, c *cli.Context, run action) error {
	home, err := f.Env.Home()
	if err != nil {
		return err
	}
	return eachProblem(f, run(c.Context, f, f.LibraryManager(home), c.Args().Slice()))
}

func libAddCommand(f *program.Factory) *cli.Command {
	o := libAddOptions{}
	return &cli.Command{
		Name:  "add",
		Usage: "list, fetch and lock a library",
		UsageText: "[--path FOLDER] [--replace] NAME URL|FOLDER [REVISION]\n" +
			"torchx lib add acme https://github.com/acme/components.git v1.2.0\n" +
			"torchx lib add --path torchx/lib tools ssh://git@example.com/infra.git main\n" +
			"torchx lib add shared ../shared/components\n" +
			"torchx lib add --replace acme ../acme",
		Description: "Write a line for a library into " + library.ProjectFile + ", fetch it and lock its files. REVISION is a tag, a branch or a commit; " +
			"without it the newest release is taken. A FOLDER of this machine is read where it is.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "path", Usage: "the library is this `FOLDER` of the repository", Destination: &o.path},
			&cli.BoolFlag{Name: "replace", Usage: "read FOLDER, as it is, in the place of a library that is listed", Destination: &o.replace},
		},
		Action: func(c *cli.Context) error {
			return lib(f, c, func(ctx context.Context, f *program.Factory, m *library.Manager, args []string) error {
				return libAdd(ctx, f, m, args, o)
			})
		},
	}
}

func libRemoveCommand(f *program.Factory) *cli.Command {
	var replace bool
	return &cli.Command{
		Name:        "remove",
		Usage:       "take libraries out",
		UsageText:   "[--replace] NAME ...\ntorchx lib remove acme tools\ntorchx lib remove --replace acme",
		Description: "Take libraries out of " + library.ProjectFile + ", of the lock and of " + library.VendorDir + ".",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "replace", Usage: "take only the folder away that is read in their place", Destination: &replace},
		},
		Action: func(c *cli.Context) error {
			if replace {
				return lib(f, c, libUnreplace)
			}
			return lib(f, c, libRemove)
		},
	}
}

func libUpdateCommand(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:      "update",
		Usage:     "lock what revisions mean now, or other ones",
		UsageText: "[NAME[@REVISION] ...]\ntorchx lib update\ntorchx lib update acme@v1.3.0",
		Description: "Look up what the revision of each library, or of those that are named, means now, fetch that and lock it. " +
			"@REVISION changes the line in " + library.ProjectFile + ", too.",
		Action: func(c *cli.Context) error {
			return lib(f, c, libUpdate)
		},
	}
}

// libAllCommand returns a command for all libraries, which takes no arguments.
func libAllCommand(f *program.Factory, name, usage, description string, run action) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, UsageText: "\ntorchx lib " + name, Description: description,
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return program.Usagef("lib "+name, "unexpected argument %s: %s applies to all libraries", ui.QuoteWord(c.Args().First()), name)
			}
			return lib(f, c, run)
		},
	}
}

func libListCommand(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name: "list", Usage: "show how it stands with each", UsageText: "[--json]\ntorchx lib list",
		Description: "List the libraries of the project: what is locked of each, whether its files are here, and where they come from.",
		Flags:       []cli.Flag{program.JSONFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return lib(f, c, func(_ context.Context, f *program.Factory, m *library.Manager, _ []string) error {
				return libList(f, m, asJSON)
			})
		},
	}
}

// eachProblem prints the parts of a joined error, one per line.
func eachProblem(f *program.Factory, err error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return err
	}
	for _, part := range joined.Unwrap() {
		f.SayError(part.Error())
	}
	return program.QuietError(program.ExitError)
}
