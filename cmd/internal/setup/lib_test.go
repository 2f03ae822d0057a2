package setup

import (
	"testing"

	"torchx/runtime/library"
)

func TestUpdateText(t *testing.T) {
	t.Parallel()
	locked := func(revision, commit, folder string, files ...library.File) *library.Locked {
		return &library.Locked{Library: library.Library{Name: "acme", Revision: revision, Folder: folder}, Commit: commit, Files: files}
	}
	a1, a2, b := library.File{Name: "a.star"}, library.File{Name: "a.star", Sum: library.Sum{2}}, library.File{Name: "b.star"}
	for _, c := range []struct {
		old, now *library.Locked
		want     string
	}{
		{locked("v1", "0123456789", "", a1), locked("v1", "0123456789", "", a1), "@acme v1 (commit 01234567, 1 file) is up to date"},
		{locked("v1", "0123456789", "", a1), locked("v2", "abcdef0123", "", a2, b), "updated @acme from v1 (01234567) to v2 (abcdef01); files: 1 changed, 1 new"},
		{locked("v1", "0123456789", "", a1, b), locked("v2", "abcdef0123", "", a1), "updated @acme from v1 (01234567) to v2 (abcdef01); files: 1 gone"},
		{locked("v1", "0123456789", "", a1), locked("v2", "abcdef0123", "", a1), "updated @acme from v1 (01234567) to v2 (abcdef01); no file changed"},
		{locked("", "", "./lib", a1), locked("", "", "./lib", a2), "updated @acme from ./lib; files: 1 changed"},
		{locked("", "", "./lib", a1), locked("v1", "0123456789", "", a1), "updated @acme to v1 (01234567); no file changed"},
	} {
		if got := updateText(library.Change{Name: "acme", Old: c.old, New: c.now}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	folder := library.Library{Folder: "./lib"}
	for want, s := range map[string]library.Status{
		"not ready": {Problem: "it is not locked", Replaced: "x", Vendored: true},
		"replaced":  {Replaced: "../acme", Vendored: true},
		"vendored":  {Vendored: true},
		"in place":  {Library: folder},
		"cached":    {},
	} {
		if got, _ := stateOf(s); got != want {
			t.Errorf("%+v: got %q, want %q", s, got, want)
		}
	}
}

func TestLibraryNames(t *testing.T) {
	t.Parallel()
	got, err := libraryNames([]string{"@acme", "tools"})
	if err != nil || len(got) != 2 || got[0] != "acme" || got[1] != "tools" {
		t.Errorf("got %q, %v, want acme and tools", got, err)
	}
	if got, err := libraryNames(nil); err == nil {
		t.Errorf("got %q without arguments, want an error", got)
	}
}
