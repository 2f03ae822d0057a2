package lib

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/library"
	"torchx/runtime/suggest"
)

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
				"and lock those that are listed and not locked yet. A commit that is locked stays.", func(ctx context.Context, m *library.Manager, args []string) error { return libSync(ctx, f, m, args) }),
			libUpdateCommand(f),
			libAllCommand(f, "vendor", "keep the files in the project", "Put the files of all libraries into "+library.VendorDir+", which is then read instead of the cache: "+
				"neither that nor the network is needed any more. Commands that change the lock keep the folder in step.", func(ctx context.Context, m *library.Manager, args []string) error { return libVendor(ctx, f, m, args) }),
			libAllCommand(f, "verify", "compare all files with the lock", "Compare every file of every library with its SHA-256 in "+library.LockFile+
				", and exit with 1 if one differs or is not there.", func(ctx context.Context, m *library.Manager, args []string) error { return libVerify(ctx, f, m, args) }),
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

// libAction is what one of the commands does with its arguments.
type libAction func(ctx context.Context, m *library.Manager, args []string) error

// lib runs one of the commands.
func lib(f *program.Factory, c *cli.Context, run libAction) error {
	home, err := f.Env.Home()
	if err != nil {
		return err
	}
	return eachProblem(f, run(c.Context, f.LibraryManager(home), c.Args().Slice()))
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
			return lib(f, c, func(ctx context.Context, m *library.Manager, args []string) error { return libAdd(ctx, f, m, args, o) })
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
			return lib(f, c, func(ctx context.Context, m *library.Manager, args []string) error {
				if replace {
					return libUnreplace(f, m, args)
				}
				return libRemove(ctx, f, m, args)
			})
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
			return lib(f, c, func(ctx context.Context, m *library.Manager, args []string) error { return libUpdate(ctx, f, m, args) })
		},
	}
}

// libAllCommand is a command about all libraries.
func libAllCommand(f *program.Factory, name, usage, description string, run libAction) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, UsageText: "\ntorchx lib " + name, Description: description,
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return program.Usagef("lib "+name, "unexpected argument %s: %s is about all libraries", ui.QuoteWord(c.Args().First()), name)
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
			return lib(f, c, func(_ context.Context, m *library.Manager, _ []string) error { return libList(f, m, asJSON) })
		},
	}
}

// eachProblem prints the parts of a joined error, each on its line.
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

// libAddOptions are the flags of `lib add`.
type libAddOptions struct {
	path    string
	replace bool
}

func libAdd(ctx context.Context, f *program.Factory, m *library.Manager, args []string, o libAddOptions) error {
	if len(args) < 2 || len(args) > 3 || o.replace && len(args) > 2 {
		return program.Usagef("lib add", "expected `lib add NAME URL [REVISION]`, `lib add NAME FOLDER` or `lib add --replace NAME FOLDER`")
	}
	lib := library.Library{Name: strings.TrimPrefix(args[0], "@"), Path: o.path}
	source := args[1]
	if o.replace || !library.IsRemote(source) && !strings.HasPrefix(source, "-") {
		if len(args) > 2 || o.path != "" {
			return program.Usagef("lib add", "a folder has no revision and no --path: %s is no URL of a repository", ui.QuoteWord(source))
		}
		lib.Folder = libFolder(f, m.Root, source)
	} else {
		lib.URL = source
	}
	if o.replace {
		if err := m.Replace(lib.Name, lib.Folder); err != nil {
			return unknownLibrary(f, err)
		}
		f.Say("@%s is read from %s now, as it is there", lib.Name, lib.Folder)
		return nil
	}
	if len(args) > 2 {
		lib.Revision = args[2]
		if err := library.CheckRevision(lib.Revision); err != nil {
			return err
		}
	}
	change, err := m.Add(ctx, lib)
	if err != nil {
		return err
	}
	f.Say("added %s to %s", libraryText(change.New), f.ShortPath(filepath.Join(m.Root, library.ProjectFile)))
	return sayMissing(ctx, f, m)
}

// libFolder is a folder that the user named, relative to the project if it is near.
func libFolder(f *program.Factory, root, folder string) string {
	if filepath.IsAbs(folder) {
		return filepath.Clean(folder)
	}
	rel, err := filepath.Rel(root, f.Env.Absolute(folder))
	if err != nil {
		return f.Env.Absolute(folder)
	}
	rel = filepath.ToSlash(rel)
	if rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return rel
	}
	return "./" + rel
}

func libRemove(ctx context.Context, f *program.Factory, m *library.Manager, args []string) error {
	names, err := libraryNames(args)
	if err != nil {
		return err
	}
	if _, err := m.Remove(names); err != nil {
		return unknownLibrary(f, err)
	}
	f.Say("removed @%s", strings.Join(names, ", @"))
	return sayMissing(ctx, f, m)
}

func libUnreplace(f *program.Factory, m *library.Manager, args []string) error {
	names, err := libraryNames(args)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := m.Unreplace(name); err != nil {
			return unknownLibrary(f, err)
		}
		f.Say("@%s is not replaced any more", name)
	}
	return nil
}

// libraryNames are arguments of `lib remove` without the @ that they may have.
func libraryNames(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, program.Usagef("lib remove", "missing NAME")
	}
	names := make([]string, len(args))
	for i, arg := range args {
		names[i] = strings.TrimPrefix(arg, "@")
	}
	return names, nil
}

func libSync(ctx context.Context, f *program.Factory, m *library.Manager, _ []string) error {
	changes, err := m.Sync(ctx)
	if err != nil {
		return err
	}
	sayLibraryChanges(f, changes)
	if len(changes) == 0 {
		f.Say("all libraries are fetched, as they are locked")
	}
	return sayMissing(ctx, f, m)
}

func libUpdate(ctx context.Context, f *program.Factory, m *library.Manager, args []string) error {
	var wanted []library.Wanted
	for _, arg := range args {
		name, revision, given := strings.Cut(strings.TrimPrefix(arg, "@"), "@")
		if given && revision == "" {
			return program.Usagef("lib update", "the revision is missing in %s", ui.QuoteWord(arg))
		}
		wanted = append(wanted, library.Wanted{Name: name, Revision: revision})
	}
	changes, err := m.Update(ctx, wanted)
	if err != nil {
		return unknownLibrary(f, err)
	}
	sayLibraryChanges(f, changes)
	return sayMissing(ctx, f, m)
}

func libVendor(ctx context.Context, f *program.Factory, m *library.Manager, _ []string) error {
	changes, err := m.Vendor(ctx)
	if err != nil {
		return err
	}
	sayLibraryChanges(f, changes)
	f.Say("%s holds the files of the libraries now, and is read instead of the cache", f.ShortPath(filepath.Join(m.Root, library.VendorDir)))
	return sayMissing(ctx, f, m)
}

func libVerify(ctx context.Context, f *program.Factory, m *library.Manager, _ []string) error {
	done, err := m.Verify(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("verified %s in %s: all as locked", ui.Counted(done.Files, "file"), ui.Counted(done.Libraries, "library"))
	if done.Replaced > 0 {
		text += fmt.Sprintf("; %d replaced and not looked at", done.Replaced)
	}
	f.Say("%s", text)
	return nil
}

// unknownLibrary adds what was probably meant.
func unknownLibrary(f *program.Factory, err error) error {
	var unknown *library.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	if hint := suggest.Hint(unknown.Names[0], unknown.Known); hint != "" {
		return fmt.Errorf("%w.%s", err, hint)
	}
	return err
}
