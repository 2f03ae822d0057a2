package setup

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
		Usage: "manage shared libraries",
		UsageText: "COMMAND ...\n" +
			"torchx lib add shared ../shared\n" +
			"torchx lib list\n" +
			"torchx run @shared//greet.star:hello\n" +
			"torchx lib remove shared",
		Description: libHelp,
		Subcommands: []*cli.Command{
			libAddCommand(f), libRemoveCommand(f),
			libAllCommand(f, "sync", "fetch locked libraries, lock new ones", "Fetch the libraries that are missing on this machine, as "+library.LockFile+" records them, "+
				"and lock libraries that are listed but not locked. Locked commits do not change.", libSync),
			libUpdateCommand(f),
			libAllCommand(f, "vendor", "copy the files into the project", "Copy the files of all libraries into "+library.VendorDir+", which is then read instead of the cache, "+
				"so that neither the cache nor the network is needed. Commands that change the lock update the folder.", libVendor),
			libAllCommand(f, "verify", "compare all files with the lock", "Compare every file of every library with its SHA-256 in "+library.LockFile+
				", and exit with 1 if a file differs or is missing.", libVerify),
			libListCommand(f),
		},
	})
}

const libHelp = "Manage libraries: folders of .star files that projects share, loaded as load(\"@NAME//x.star\", ...).\n" +
	library.ProjectFile + " at the project's root lists them, one a line:\n" +
	"`lib NAME URL REVISION [path=FOLDER]`: a git repository (https, ssh, file) or a folder of it;\n" +
	"`lib NAME FOLDER`: a folder on this machine; `replace NAME FOLDER`: a folder to read instead, while you work on both.\n" +
	library.LockFile + " records the commit and the SHA-256 of every file; nothing else is loaded. Commit both files.\n" +
	"`run` never fetches. With --offline only file:// URLs are fetched."

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
		Usage: "add, fetch and lock a library",
		UsageText: "[--path FOLDER] [--replace] NAME URL|FOLDER [REVISION]\n" +
			"torchx lib add acme https://github.com/acme/components.git v1.2.0\n" +
			"torchx lib add --path torchx/lib tools ssh://git@example.com/infra.git main\n" +
			"torchx lib add shared ../shared\n" +
			"torchx lib add --replace shared ../shared-fork",
		Description: "Add a library to " +
			library.ProjectFile +
			", fetch it and lock its files. REVISION is a tag, a branch or a commit; it defaults to the newest release. A local " +
			"FOLDER is read in place.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "path", Usage: "the library is `FOLDER` of the repository", Destination: &o.path},
			&cli.BoolFlag{Name: "replace", Usage: "read FOLDER, without a lock, instead of a listed library", Destination: &o.replace},
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
		Name:  "remove",
		Usage: "remove libraries",
		UsageText: "[--replace] NAME ...\n" +
			"torchx lib remove shared",
		Description: "Remove libraries from " +
			library.ProjectFile +
			", from the lock and from " +
			library.VendorDir +
			".",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "replace", Usage: "remove only the folders that replace the libraries", Destination: &replace},
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
		Name:  "update",
		Usage: "lock the current commits of revisions, or other revisions",
		UsageText: "[NAME[@REVISION] ...]\n" +
			"torchx lib update\n" +
			"torchx lib update acme@v1.3.0",
		Description: "Resolve the revision of each library, or of those that are named, fetch the result and lock it. @REVISION changes the " +
			"line in " +
			library.ProjectFile +
			".",
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
		Name: "list", Usage: "list the libraries and their state", UsageText: "[--json]\ntorchx lib list",
		Description: "List the libraries of the project: the locked commit, whether the files are on this machine, and their source.",
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
