package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
	"torchx/runtime/library"
)

// libAddOptions are the flags of `lib add`.
type libAddOptions struct {
	path    string
	replace bool
}

func libAdd(
	ctx context.Context, f *program.Factory, m *library.Manager, args []string, o libAddOptions,
) error {
	if len(args) < 2 || len(args) > 3 || o.replace && len(args) > 2 {
		return program.Usagef("lib add", "expected `lib add NAME URL [REVISION]`, `lib add NAME FOLDER` or `lib add --replace NAME FOLDER`")
	}
	lib := library.Library{Name: strings.TrimPrefix(args[0], "@"), Path: o.path}
	source := args[1]
	if o.replace || !library.IsRemote(source) && !strings.HasPrefix(source, "-") {
		if len(args) > 2 || o.path != "" {
			return program.Usagef("lib add", "%s is not the URL of a repository: a folder takes neither REVISION nor --path", ui.QuoteWord(source))
		}
		lib.Folder = libFolder(f, m.Root, source)
	} else {
		lib.URL = source
	}
	if o.replace {
		if err := m.Replace(lib.Name, lib.Folder); err != nil {
			return unknownLibrary(err)
		}
		f.Say("@%s is now read from %s", lib.Name, lib.Folder)
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
	f.Say("added %s to %s", libraryText(change.New),
		f.ShortPath(filepath.Join(m.Root, library.ProjectFile)))
	return sayMissing(ctx, f, m)
}

// libFolder returns a folder as listed in the project file: relative to the root, unless the
// user typed an absolute path.
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
		return unknownLibrary(err)
	}
	f.Say("removed @%s", strings.Join(names, ", @"))
	return sayMissing(ctx, f, m)
}

func libUnreplace(_ context.Context, f *program.Factory, m *library.Manager, args []string) error {
	names, err := libraryNames(args)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := m.Unreplace(name); err != nil {
			return unknownLibrary(err)
		}
		f.Say("removed the replacement of @%s", name)
	}
	return nil
}

// libraryNames returns the arguments of `lib remove` without a leading @.
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
		f.Say("all locked libraries are fetched")
	}
	return sayMissing(ctx, f, m)
}

func libUpdate(ctx context.Context, f *program.Factory, m *library.Manager, args []string) error {
	var wanted []library.Wanted
	for _, arg := range args {
		name, revision, given := strings.Cut(strings.TrimPrefix(arg, "@"), "@")
		if given && revision == "" {
			return program.Usagef("lib update", "missing revision in %s", ui.QuoteWord(arg))
		}
		wanted = append(wanted, library.Wanted{Name: name, Revision: revision})
	}
	changes, err := m.Update(ctx, wanted)
	if err != nil {
		return unknownLibrary(err)
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
	f.Say("%s now has the files of all libraries and is used instead of the cache",
		f.ShortPath(filepath.Join(m.Root, library.VendorDir)))
	return sayMissing(ctx, f, m)
}

func libVerify(ctx context.Context, f *program.Factory, m *library.Manager, _ []string) error {
	done, err := m.Verify(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("verified %s in %s: all match the lock", ui.Counted(done.Files, "file"),
		ui.Counted(done.Libraries, "library"))
	if done.Replaced > 0 {
		text += fmt.Sprintf("; %d replaced, not verified", done.Replaced)
	}
	f.Say("%s", text)
	return nil
}

// unknownLibrary adds a did-you-mean hint to the error for an unknown library.
func unknownLibrary(err error) error {
	var unknown *library.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	if hint := humanize.Hint(unknown.Names[0], unknown.Known); hint != "" {
		return fmt.Errorf("%w.%s", err, hint)
	}
	return err
}
