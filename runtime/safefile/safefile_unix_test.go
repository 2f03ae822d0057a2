//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// createAll creates a file of each kind.
func createAll(t *testing.T) (folder string) {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	sparse, err := os.Create(path("sparse"))
	err = errors.Join(err, sparse.Truncate(1<<40), sparse.Close(),
		unix.Mkfifo(path("pipe"), 0o600), os.Mkdir(path("folder"), 0o700),
		os.WriteFile(path("file"), []byte("text"), 0o600), os.Symlink("file", path("link")),
		os.Symlink("/dev/zero", path("zero")), os.Symlink("missing", path("dangling")), os.Symlink("pipe", path("pipelink")))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := createAll(t)
	tests := []struct {
		name                string
		home, input         error  // of ReadFile and ReadInput
		homeText, inputText string // of the errors
	}{
		{name: "file"},
		{"missing", fs.ErrNotExist, fs.ErrNotExist, "missing", "missing"},
		{"pipe", ErrNotRegular, ErrNotRegular, "pipe: is a named pipe, want a regular file (remove it)", "pipe: is a named pipe, want a regular file"},
		{"folder", ErrNotRegular, ErrNotRegular, "is a folder", "is a folder"},
		{"zero", ErrNotRegular, ErrNotRegular, "is a symbolic link", "is a device"},
		{"pipelink", ErrNotRegular, ErrNotRegular, "is a symbolic link", "is a named pipe"},
		{"link", ErrNotRegular, nil, "is a symbolic link", ""},
		{"dangling", ErrNotRegular, fs.ErrNotExist, "is a symbolic link", "dangling"},
		{"sparse", ErrTooLarge, ErrTooLarge, "it has 1099511627776 bytes, the limit is 4", "the limit is 4"},
	}
	check := func(what string, data []byte, err, want error, text string) {
		switch {
		case want == nil && (err != nil || string(data) != "text"):
			t.Errorf("%s: got %q, %v, want the text", what, data, err)
		case want != nil && (!errors.Is(err, want) || !strings.Contains(err.Error(), text)):
			t.Errorf("%s: got %v, want %v with %q", what, err, want, text)
		}
	}
	for _, test := range tests {
		data, err := ReadFile(filepath.Join(dir, test.name), 4)
		check("ReadFile "+test.name, data, err, test.home, test.homeText)
		data, err = ReadInput(filepath.Join(dir, test.name), 4)
		check("ReadInput "+test.name, data, err, test.input, test.inputText)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := createAll(t)
	for _, name := range []string{"pipe", "folder", "zero", "link", "dangling"} {
		if err := WriteFile(filepath.Join(dir, name), []byte("new")); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: got %v, want %v", name, err, ErrNotRegular)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("target of a dangling link: got %v, want no file", err)
	}
	for _, name := range []string{"file", "new"} {
		if err := WriteFile(filepath.Join(dir, name), []byte("new")); err != nil {
			t.Errorf("%s: got %v, want nil", name, err)
		}
		if data, err := ReadFile(filepath.Join(dir, name), 4); err != nil || string(data) != "new" {
			t.Errorf("%s: got %q, %v, want the new text", name, data, err)
		}
	}
}
