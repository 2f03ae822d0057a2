package starfiles_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/starlark/starfiles"
)

func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{
		"a.star", "a_test.star", "notes.txt", "sub/b.star", "sub/deep/c_test.star", "sub/c.star.bak",
		".git/x.star", "testdata/y.star", "sub/vendor/z.star", "torchx.vendor/lib/l.star", ".hidden.star",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "a.star"), filepath.Join(dir, "sub", "link.star")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := project(t)
	for _, c := range []struct {
		find  func(string, []string) ([]string, error)
		paths string
		want  string
	}{
		{starfiles.Find, "", ".hidden.star a.star a_test.star sub/b.star sub/deep/c_test.star"},
		{starfiles.Find, ".", ".hidden.star a.star a_test.star sub/b.star sub/deep/c_test.star"},
		{starfiles.Find, "./...", ".hidden.star a.star a_test.star sub/b.star sub/deep/c_test.star"},
		{starfiles.Find, "...", ".hidden.star a.star a_test.star sub/b.star sub/deep/c_test.star"},
		{starfiles.Find, "sub a.star ./sub/b.star", "sub/b.star sub/deep/c_test.star a.star"},
		{starfiles.Find, "sub/ sub/...", "sub/b.star sub/deep/c_test.star"},
		{starfiles.Find, "sub/link.star testdata", "sub/link.star testdata/y.star"},
		{starfiles.Tests, "", "a_test.star sub/deep/c_test.star"},
		{starfiles.Tests, "a.star", "a_test.star"},
		{starfiles.Tests, "sub", "sub/deep/c_test.star"},
		{starfiles.Tests, "testdata", ""},
		{starfiles.Find, "gone.star", "ERROR gone.star does not exist: name a .star file or a folder"},
		{starfiles.Find, "notes.txt", "ERROR notes.txt is not a .star file"},
		{starfiles.Tests, "sub/b.star", "ERROR sub/b.star has no test file: sub/b_test.star does not exist"},
	} {
		got, err := c.find(dir, strings.Fields(c.paths))
		text := filepath.ToSlash(strings.Join(got, " "))
		if err != nil {
			text = "ERROR " + err.Error()
		}
		if text != c.want {
			t.Errorf("%q: %q, want %q", c.paths, text, c.want)
		}
	}
	if _, err := starfiles.Find(dir, []string{""}); err == nil {
		t.Error("an empty path is accepted")
	}
	got, err := starfiles.Find("/", []string{filepath.Join(dir, "sub")})
	if want := []string{filepath.Join(dir, "sub/b.star"), filepath.Join(dir, "sub/deep/c_test.star")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want absolute paths", got, err)
	}
}
