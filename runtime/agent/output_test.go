package agent

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMakeEmpty(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "app-1")
	for range 2 { // a killed submission leaves an empty folder
		if err := makeEmpty(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	for _, taken := range []string{dir, link, filepath.Join(dir, "f")} {
		if err := makeEmpty(taken); err == nil || !strings.Contains(err.Error(), "already exists (move it away") {
			t.Errorf("%s: got %v, want an error that it exists", taken, err)
		}
	}
}

// TestRestoreOutput: a new agent of containers finds or creates the folder, and keeps its files.
func TestRestoreOutput(t *testing.T) {
	t.Parallel()
	m := &Manifest{Lifecycle: Lifecycle{Containers: true}}
	a := &agent{bundle: Bundle{t.TempDir()}, manifest: m, log: log.New(io.Discard, "", 0)}
	for range 2 {
		if err := a.restoreOutput(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.bundle.OutputDir(m), "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(a.bundle.OutputDir(m))
	if err != nil || info.Mode().Perm() != 0o777 || info.Mode()&os.ModeSticky == 0 {
		t.Errorf("got %v, %v, want a folder for all users", info, err)
	}
	if err := a.makeOutput(); err == nil {
		t.Error("a new app accepts a folder with files, want an error")
	}
}
