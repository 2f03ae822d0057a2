package agent

import (
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
