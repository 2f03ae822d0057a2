package program

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/provenance"
	"torchx/runtime/runner"
)

// Provenance is where an app comes from, as JSON; unknown values are null.
type Provenance struct {
	Git       *gitObject      `json:"git"`
	Host      ui.NullString   `json:"host"`
	User      ui.NullString   `json:"user"`
	Cwd       ui.NullString   `json:"cwd"`
	Version   ui.NullString   `json:"version"` // of torchx
	Libraries []libraryObject `json:"libraries"`
}

type gitObject struct {
	Root           string        `json:"root"`
	Commit         string        `json:"commit"`
	Branch         ui.NullString `json:"branch"`
	Remote         ui.NullString `json:"remote"`
	Dirty          *bool         `json:"dirty"`
	Changed        int           `json:"changed"`
	ChangedFiles   []string      `json:"changed_files"` // the first names
	Untracked      int           `json:"untracked"`
	UntrackedFiles []string      `json:"untracked_files"`
	DiffSHA256     ui.NullString `json:"diff_sha256"` // null: no diff is stored
	DiffBytes      *int64        `json:"diff_bytes"`
	DiffStat       ui.NullString `json:"diff_stat"`
}

type libraryObject struct {
	Name     string        `json:"name"`
	Revision ui.NullString `json:"revision"`
	Commit   ui.NullString `json:"commit"`
}

// ProvenanceOf returns where an app comes from, nil if its record does not tell.
func ProvenanceOf(s *history.Source, c *history.Checkout) *Provenance {
	if s.Version == "" && c == nil {
		return nil // recorded by an earlier version of torchx
	}
	o := &Provenance{
		Host: ui.NullString(s.Host), User: ui.NullString(s.User), Cwd: ui.NullString(s.Cwd),
		Version: ui.NullString(s.Version), Libraries: []libraryObject{},
	}
	for _, l := range s.Libraries {
		o.Libraries = append(o.Libraries, libraryObject{l.Name, ui.NullString(l.Revision), ui.NullString(l.Commit)})
	}
	if c != nil {
		o.Git = &gitObject{
			Root: c.Root, Commit: c.Commit, Branch: ui.NullString(c.Branch), Remote: ui.NullString(c.Remote), Dirty: c.Dirty,
			Changed: c.Changed, ChangedFiles: append([]string{}, c.Files...), Untracked: c.Untracked, UntrackedFiles: append([]string{}, c.UntrackedFiles...),
			DiffSHA256: ui.NullString(c.DiffSum), DiffStat: ui.NullString(c.DiffStat),
		}
		if c.DiffSum != "" {
			o.Git.DiffBytes = &c.DiffBytes
		}
	}
	return o
}

// shortCommit is how many digits of a commit are shown.
const shortCommit = 12

// CommitText returns the commit of a checkout and its branch: "1b7f3f6e5c2d on main".
func CommitText(c *history.Checkout) string {
	return c.Commit[:min(shortCommit, len(c.Commit))] + " " + cmp.Or(strings.TrimSuffix("on "+c.Branch, "on "), "(detached HEAD)")
}

// shownNames is how many names of files are shown.
const shownNames = 5

// ChangesText returns what differs from the commit: "1 file changed, 2 untracked: train.py,
// data/, x"; "none" for a clean checkout, "" if it is not known.
func ChangesText(c *history.Checkout) string {
	if c.Dirty == nil {
		return ""
	}
	if !*c.Dirty {
		return "none"
	}
	var parts []string
	if c.Changed > 0 {
		parts = append(parts, ui.Counted(c.Changed, "file")+" changed")
	}
	if c.Untracked > 0 {
		parts = append(parts, fmt.Sprintf("%d untracked", c.Untracked))
	}
	names := append(append([]string{}, c.Files...), c.UntrackedFiles...)
	if len(names) > shownNames {
		names = append(names[:shownNames], "...")
	}
	return strings.Join(parts, ", ") + ": " + strings.Join(names, ", ")
}

// LibrariesText returns locked libraries: "shared v1.2 (1b7f3f6e5c2d)".
func LibrariesText(libraries []history.Library) string {
	var words []string
	for _, l := range libraries {
		word := strings.TrimSpace(l.Name + " " + l.Revision)
		if l.Commit != "" {
			word += " (" + l.Commit[:min(shortCommit, len(l.Commit))] + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// SourceDiff returns the stored diff of an app's checkout, byte by byte as git printed it; it is
// empty if no file had changed.
func SourceDiff(ctx context.Context, r *runner.Runner, record *history.App) ([]byte, error) {
	c, handle := record.Checkout, record.Handle()
	switch {
	case c == nil:
		return nil, fmt.Errorf("the git checkout of %s is not known: it was submitted outside of one, without git, or with [torchx] provenance = %s", handle, provenanceOff)
	case c.Dirty == nil:
		return nil, fmt.Errorf("the changes of %s are not known: git could not compare the files, or took over %s", handle, collectLimit)
	case c.Changed == 0:
		return nil, nil
	case c.DiffStat != "":
		return nil, fmt.Errorf("the diff of %s was too large to keep: `torchx describe --json %s` has its statistics", handle, handle)
	case c.DiffSum == "":
		return nil, fmt.Errorf("the diff of %s was not stored: [torchx] provenance = %s, or git could not compare the files", handle, provenanceCommit)
	}
	packed, err := r.History.Diff(ctx, record.Backend, record.ID)
	if err != nil {
		return nil, err
	}
	diff, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("read the diff of %s: %w", handle, err)
	}
	return diff, nil
}

func unpack(packed []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	diff, err := io.ReadAll(io.LimitReader(zip, provenance.MaxText+1))
	if err == nil && len(diff) > provenance.MaxText {
		err = errors.New("it is too large")
	}
	return diff, err
}
