package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/state"
)

func TestHomeChecks(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home*[x]")
	expect := func(c backend.Check, want backend.Level, text string) {
		t.Helper()
		if c.Level != want || !strings.Contains(c.Text, text) {
			t.Errorf("%s: got %s %q, want %s with %q", c.Name, c.Level, c.Text, want, text)
		}
	}
	expect(folderCheck(home), backend.LevelOK, "only by you")
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("got files %v in the home after the check, %v, want none", left, err)
	}
	expect(historyCheck(t.Context(), home), backend.LevelOK, "0 apps in ")
	expect(asideCheck(home), backend.LevelOK, "no damaged history")

	damaged := filepath.Join(home, "state.db.corrupt-1")
	if err := os.WriteFile(damaged, make([]byte, 2048), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(asideCheck(home), backend.LevelWarning, "1 file of damaged histories, 2.0 KiB")

	if hasModes {
		if err := os.Chmod(home, 0o755); err != nil {
			t.Fatal(err)
		}
		expect(folderCheck(home), backend.LevelWarning, "(mode 0755)")
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(folderCheck(file), backend.LevelFailure, "cannot be created")
}

func TestDamagedHistory(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	db, err := state.Open(t.Context(), filepath.Join(home, "state.db"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "state.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := historyCheck(t.Context(), home)
	if c.Level != backend.LevelFailure || !strings.Contains(c.Text, "state.db is damaged") {
		t.Errorf("got %s %q, want a failure", c.Level, c.Text)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "state.db.corrupt-*")); len(left) > 0 {
		t.Errorf("the damaged history was moved to %v, want it in place", left)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	n := levels([]examination{
		{"home", []backend.Check{backend.PassedCheck("a", "x"), backend.FailedCheck("b", "", "x")}},
		{"local", []backend.Check{backend.PassedCheck("a", "x")}},
	})
	if n[backend.LevelOK] != 2 || n[backend.LevelFailure] != 1 || n[backend.LevelWarning] != 0 {
		t.Errorf("got %v, want 2 ok and 1 failure", n)
	}
}
