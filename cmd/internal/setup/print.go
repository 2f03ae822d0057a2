package setup

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/library"
)

// shortCommit is the number of digits shown of a commit.
const shortCommit = 8

func commitText(commit string) string { return commit[:min(shortCommit, len(commit))] }

// libraryText describes a locked library.
func libraryText(k *library.Locked) string {
	text := "@" + k.Name
	if k.Revision != "" {
		text += fmt.Sprintf(" %s (commit %s, %s)", k.Revision, commitText(k.Commit),
			ui.Counted(len(k.Files), "file"))
	} else {
		text += fmt.Sprintf(" (%s in %s)", ui.Counted(len(k.Files), "file"), k.Folder)
	}
	return text
}

// sayLibraryChanges reports what changed in each library.
func sayLibraryChanges(f *program.Factory, changes []library.Change) {
	for _, c := range changes {
		switch {
		case c.New == nil:
			f.Say("removed @%s from %s: not listed in the project", c.Name, library.LockFile)
		case c.Old == nil:
			f.Say("locked %s", libraryText(c.New))
		case c.Old == c.New:
			f.Say("fetched %s", libraryText(c.New))
		default:
			f.Say("%s", updateText(c))
		}
	}
}

// updateText describes an update.
func updateText(c library.Change) string {
	d := library.Compare(c.Old, c.New)
	if d.IsEmpty() && c.Old.Commit == c.New.Commit && c.Old.Revision == c.New.Revision {
		return libraryText(c.New) + " is up to date"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{len(d.Changed), "changed"}, {len(d.Added), "new"}, {len(d.Gone), "gone"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	what := "no file changed"
	if len(parts) > 0 {
		what = "files: " + strings.Join(parts, ", ")
	}
	if c.New.Folder != "" {
		return fmt.Sprintf("updated @%s from %s; %s", c.Name, c.New.Folder, what)
	}
	from := ""
	if c.Old.Commit != "" {
		from = fmt.Sprintf(" from %s (%s)", c.Old.Revision, commitText(c.Old.Commit))
	}
	return fmt.Sprintf("updated @%s%s to %s (%s); %s", c.Name, from, c.New.Revision,
		commitText(c.New.Commit), what)
}

// sayMissing warns about libraries that the project's libraries need but that are not listed.
func sayMissing(ctx context.Context, f *program.Factory, m *library.Manager) error {
	err := m.Missing(ctx)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		f.Warn("%v", err)
	}
	return nil
}

// libraryStatus is an element of `lib list --json`.
type libraryStatus struct {
	Name     string        `json:"name"`
	URL      ui.NullString `json:"url"`
	Revision ui.NullString `json:"revision"`
	Path     ui.NullString `json:"path"`
	Folder   ui.NullString `json:"folder"`
	Commit   ui.NullString `json:"commit"`
	Files    int           `json:"files"`
	Replaced ui.NullString `json:"replaced"` // the folder that is read instead
	Vendored bool          `json:"vendored"`
	Problem  ui.NullString `json:"problem"`
}

func libList(f *program.Factory, m *library.Manager, asJSON bool) error {
	list, err := m.List()
	if err != nil {
		return err
	}
	if asJSON {
		return f.PrintMaskedJSON(libraryStatuses(list))
	}
	if len(list) == 0 {
		f.Say("the project has no libraries: `torchx lib add NAME URL [REVISION]` adds one")
		return nil
	}
	tab := ui.Table{Header: []string{"NAME", "REVISION", "COMMIT", "FILES", "STATE", "FROM"}}
	for _, s := range list {
		state, color := stateOf(s)
		tab.Add(ui.NewCell("@"+s.Name, ""), ui.NewCell(cmp.Or(s.Revision, "-"), ""), ui.NewCell(cmp.Or(commitText(s.Commit), "-"), ui.AnsiDim),
			ui.NewCell(strconv.Itoa(s.Files), ui.AnsiDim), ui.NewCell(state, color), ui.NewCell(f.Masked(fromText(s)), ""))
	}
	err = f.PrintTable(&tab, func(width int) {
		tab.Fit(width, "FILES", "COMMIT")
		tab.Shorten("FROM", width, 20)
	})
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.Problem != "" {
			f.Warn("library @%s: %s", s.Name, s.Problem)
		}
	}
	return nil
}

// stateOf returns a word for the state of a library, and its color.
func stateOf(s library.Status) (text, color string) {
	switch {
	case s.Problem != "":
		return "not ready", ui.AnsiRed
	case s.Replaced != "":
		return "replaced", ui.AnsiYellow
	case s.Vendored:
		return "vendored", ui.AnsiGreen
	case s.Folder != "":
		return "in place", ui.AnsiGreen
	}
	return "cached", ui.AnsiGreen
}

// fromText returns the origin of a library.
func fromText(s library.Status) string {
	switch {
	case s.Replaced != "":
		return s.Replaced + " instead of " + s.Source()
	case s.Path != "":
		return s.Source() + " path=" + s.Path
	}
	return s.Source()
}

func libraryStatuses(list []library.Status) []libraryStatus {
	out := make([]libraryStatus, len(list))
	for i, s := range list {
		out[i] = libraryStatus{
			Name: s.Name, URL: ui.NullString(s.URL), Revision: ui.NullString(s.Revision), Path: ui.NullString(s.Path), Folder: ui.NullString(s.Folder),
			Commit: ui.NullString(s.Commit), Files: s.Files, Replaced: ui.NullString(s.Replaced), Vendored: s.Vendored, Problem: ui.NullString(s.Problem),
		}
	}
	return out
}
