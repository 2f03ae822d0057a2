package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/runtime/library"
	"torchx/runtime/suggest"
)

// libOptions are the flags of `lib`, each of which belongs to some of its commands.
type libOptions struct {
	path    string
	replace bool
	json    bool
}

// libAction is one of the commands of `lib`.
type libAction struct {
	name  string
	flags []string // that may be given
	run   func(ctx context.Context, m *library.Manager, args []string, o libOptions) error
}

func (t *tool) libActions() []libAction {
	return []libAction{
		{"add", []string{"path", "replace"}, t.libAdd},
		{"remove", []string{"replace"}, t.libRemove},
		{"sync", nil, t.libSync},
		{"update", nil, t.libUpdate},
		{"vendor", nil, t.libVendor},
		{"verify", nil, t.libVerify},
		{"list", []string{"json"}, t.libList},
	}
}

func (t *tool) libCommand() *cli.Command {
	o := libOptions{}
	cmd := &cli.Command{
		Name:  "lib",
		Usage: "add, fetch, lock and check component libraries of the project",
		UsageText: "add|remove|sync|update|vendor|verify|list [NAME ...]\n" +
			"torchx lib add acme https://github.com/acme/components.git v1.2.0\n" +
			"torchx lib add --path torchx/lib tools ssh://git@example.com/infra.git main\n" +
			"torchx lib add --replace acme ../acme\n" +
			"torchx lib update acme@v1.3.0\n" +
			"torchx run @acme//train.star:ddp --help",
		Description: libHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "path", Usage: "add: the library is this `FOLDER` of the repository", Destination: &o.path},
			&cli.BoolFlag{Name: "replace", Usage: "add, remove: a line that reads a folder in the place of the library, as it is", Destination: &o.replace},
			jsonFlag(&o.json),
		},
	}
	cmd.Action = func(c *cli.Context) error {
		name := c.Args().First()
		if name == "" {
			return t.print(commandHelp(cmd, cmd.Name, terminalWidth(t.out)))
		}
		actions := t.libActions()
		var names []string
		for _, a := range actions {
			names = append(names, a.name)
			if a.name == name {
				return t.lib(c, a, o)
			}
		}
		return usagef("lib", "unknown command %s: it is one of %s.%s", quoteWord(name), strings.Join(names, ", "), suggest.Hint(name, names))
	}
	return cmd
}

const libHelp = "Libraries are folders of .star files that projects share, loaded as load(\"@NAME//x.star\", ...).\n" +
	library.ProjectFile + " at the project's root lists them, a line each:\n" +
	"`lib NAME URL REVISION [path=FOLDER]`: a git repository (https, ssh, file), or a folder of it;\n" +
	"`lib NAME FOLDER`: a folder of this machine; `replace NAME FOLDER`: read that instead, as it is, while you work on both.\n" +
	library.LockFile + " holds the commit and the SHA-256 of every file: nothing else is loaded. Commit both files.\n\n" +
	"add NAME URL|FOLDER [REVISION]: list, fetch and lock a library; without REVISION its newest release\n" +
	"remove NAME ...: take libraries out\n" +
	"sync: fetch what is locked, lock what is new\n" +
	"update [NAME[@REVISION] ...]: lock what the revision means now, or another one\n" +
	"vendor: keep the files in " + library.VendorDir + ", to work without cache and network\n" +
	"verify: compare all files with the lock\n" +
	"list: show how it stands with each\n\n" +
	"`run` never fetches. With --offline nothing does, but from file:// URLs."

// lib runs one of the commands.
func (t *tool) lib(c *cli.Context, a libAction, o libOptions) error {
	for _, flag := range c.LocalFlagNames() {
		if !slices.Contains(a.flags, flag) {
			return usagef("lib", "%s cannot be used with `lib %s`", dashes(flag), a.name)
		}
	}
	home, err := t.env.home()
	if err != nil {
		return err
	}
	return t.eachProblem(a.run(c.Context, t.libraryManager(home), c.Args().Tail(), o))
}

// eachProblem prints the parts of a joined error, each on its line.
func (t *tool) eachProblem(err error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return err
	}
	for _, part := range joined.Unwrap() {
		t.sayError(part.Error())
	}
	return quietError{exitError}
}

func (t *tool) libAdd(ctx context.Context, m *library.Manager, args []string, o libOptions) error {
	if len(args) < 2 || len(args) > 3 || o.replace && len(args) > 2 {
		return usagef("lib", "expected `lib add NAME URL [REVISION]`, `lib add NAME FOLDER` or `lib add --replace NAME FOLDER`")
	}
	lib := library.Library{Name: strings.TrimPrefix(args[0], "@"), Path: o.path}
	source := args[1]
	if o.replace || !library.IsRemote(source) && !strings.HasPrefix(source, "-") {
		if len(args) > 2 || o.path != "" {
			return usagef("lib", "a folder has no revision and no --path: %s is no URL of a repository", quoteWord(source))
		}
		lib.Folder = t.libFolder(m.Root, source)
	} else {
		lib.URL = source
	}
	if o.replace {
		if err := m.Replace(lib.Name, lib.Folder); err != nil {
			return t.unknownLibrary(err)
		}
		t.say("@%s is read from %s now, as it is there", lib.Name, lib.Folder)
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
	t.say("added %s to %s", libraryText(change.New), t.shortPath(filepath.Join(m.Root, library.ProjectFile)))
	return t.sayMissing(ctx, m)
}

// libFolder is a folder that the user named, relative to the project if it is near.
func (t *tool) libFolder(root, folder string) string {
	if filepath.IsAbs(folder) {
		return filepath.Clean(folder)
	}
	rel, err := filepath.Rel(root, t.env.absolute(folder))
	if err != nil {
		return t.env.absolute(folder)
	}
	rel = filepath.ToSlash(rel)
	if rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return rel
	}
	return "./" + rel
}

func (t *tool) libRemove(ctx context.Context, m *library.Manager, args []string, o libOptions) error {
	if len(args) == 0 {
		return usagef("lib", "missing NAME")
	}
	for i := range args {
		args[i] = strings.TrimPrefix(args[i], "@")
	}
	if o.replace {
		for _, name := range args {
			if err := m.Unreplace(name); err != nil {
				return t.unknownLibrary(err)
			}
			t.say("@%s is not replaced any more", name)
		}
		return nil
	}
	if _, err := m.Remove(args); err != nil {
		return t.unknownLibrary(err)
	}
	t.say("removed @%s", strings.Join(args, ", @"))
	return t.sayMissing(ctx, m)
}

func (t *tool) libSync(ctx context.Context, m *library.Manager, args []string, _ libOptions) error {
	if len(args) > 0 {
		return usagef("lib", "unexpected argument %s: sync is about all libraries", quoteWord(args[0]))
	}
	changes, err := m.Sync(ctx)
	if err != nil {
		return err
	}
	t.sayLibraryChanges(changes)
	if len(changes) == 0 {
		t.say("all libraries are fetched, as they are locked")
	}
	return t.sayMissing(ctx, m)
}

func (t *tool) libUpdate(ctx context.Context, m *library.Manager, args []string, _ libOptions) error {
	var wanted []library.Wanted
	for _, arg := range args {
		name, revision, given := strings.Cut(strings.TrimPrefix(arg, "@"), "@")
		if given && revision == "" {
			return usagef("lib", "the revision is missing in %s", quoteWord(arg))
		}
		wanted = append(wanted, library.Wanted{Name: name, Revision: revision})
	}
	changes, err := m.Update(ctx, wanted)
	if err != nil {
		return t.unknownLibrary(err)
	}
	t.sayLibraryChanges(changes)
	return t.sayMissing(ctx, m)
}

func (t *tool) libVendor(ctx context.Context, m *library.Manager, args []string, _ libOptions) error {
	if len(args) > 0 {
		return usagef("lib", "unexpected argument %s: vendor is about all libraries", quoteWord(args[0]))
	}
	changes, err := m.Vendor(ctx)
	if err != nil {
		return err
	}
	t.sayLibraryChanges(changes)
	t.say("%s holds the files of the libraries now, and is read instead of the cache", t.shortPath(filepath.Join(m.Root, library.VendorDir)))
	return t.sayMissing(ctx, m)
}

func (t *tool) libVerify(ctx context.Context, m *library.Manager, args []string, _ libOptions) error {
	if len(args) > 0 {
		return usagef("lib", "unexpected argument %s: verify is about all libraries", quoteWord(args[0]))
	}
	done, err := m.Verify(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s in %s are as they were locked", countText(done.Files, "file"), countText(done.Libraries, "library"))
	if done.Replaced > 0 {
		text += fmt.Sprintf("; %d replaced and not looked at", done.Replaced)
	}
	t.say("%s", text)
	return nil
}

// unknownLibrary adds what was probably meant.
func (t *tool) unknownLibrary(err error) error {
	var unknown *library.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	if hint := suggest.Hint(unknown.Names[0], unknown.Known); hint != "" {
		return fmt.Errorf("%w.%s", err, hint)
	}
	return err
}
