//go:build unix

package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestStartError: the kernel returned ENOENT for an existing program.
func TestStartError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{
		"#!/no/such -x\necho\n":  `": its interpreter "/no/such" not found`,
		"#! /bin/sh\r\necho\r\n": `": its interpreter "/bin/sh\r" not found`,
		"\x7fELF":                "no such file or directory",
	} {
		path := filepath.Join(dir, "program")
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		err := startError(path, dir, syscall.ENOENT)
		if !strings.HasSuffix(err.Error(), want) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if err := startError("/bin/sh", dir+"/gone", syscall.ENOENT); !strings.HasSuffix(err.Error(), `working folder "`+dir+`/gone" not found`) {
		t.Error(err)
	}
	if err := startError("/bin/sh", dir, syscall.ENOEXEC); !errors.Is(err, syscall.ENOEXEC) {
		t.Error(err)
	}
}
