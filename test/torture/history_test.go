//go:build linux

package torture

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // another program that has the history open

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

func (h *home) historyFile() string { return filepath.Join(h.dir, "state.db") }

// filled runs two apps and returns what list and describe say of them.
func (h *home) filled() (list, describe string) {
	h.Helper()
	h.torchx("", "run", h.file, "--script", "exit 0")
	h.torchx("", "run", h.file, "--script", "exit 5", "--num_replicas", "2")
	return h.listed(), h.described()
}

func (h *home) listed() string {
	h.Helper()
	return h.torchx("", "list", "--all", "--json").stdout
}

func (h *home) described() string {
	h.Helper()
	return h.torchx("", "describe", "--json", "-").stdout
}

// A history that is lost is said to be so, kept when it is damaged, and filled
// again from the bundles with all that list and describe show.
func TestHistoryIsRebuilt(t *testing.T) {
	t.Parallel()
	remove := func(h *home) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(h.historyFile() + suffix); err != nil && !os.IsNotExist(err) {
				h.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		damage func(h *home)
		says   string
		aside  int // files kept
	}{
		{"deleted", remove, "2 apps", 0},
		{"no database", func(h *home) {
			remove(h)
			if err := os.WriteFile(h.historyFile(), []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
				h.Fatal(err)
			}
		}, "corrupt", 1},
		{"killed before it was filled", func(h *home) {
			remove(h)
			// What an agent leaves that begins the history, or a command that dies at once.
			h.torchx(failpoint.Filling, "list")
		}, "2 apps", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			list, describe := h.filled()
			test.damage(h)
			if r := h.torchx("", "status", "-"); !strings.Contains(r.stderr, test.says) || r.code != 0 {
				t.Errorf("exit %d, stderr does not say %q:\n%s", r.code, test.says, r.stderr)
			}
			if got := h.listed(); !sameApps(t, got, list) {
				t.Errorf("list is now %s\nwas %s", got, list)
			}
			if got := h.described(); got != describe {
				t.Errorf("describe is now %s\nwas %s", got, describe)
			}
			files, err := filepath.Glob(h.historyFile() + ".corrupt-*Z")
			if err != nil || len(files) != test.aside {
				t.Errorf("kept aside: %v %v, want %d", files, err, test.aside)
			}
		})
	}
}

// sameApps compares lists but for the times: the record's is a little before the
// bundle's.
func sameApps(t *testing.T, got, want string) bool {
	t.Helper()
	var all [2][]map[string]any
	for i, text := range []string{got, want} {
		if err := json.Unmarshal([]byte(text), &all[i]); err != nil {
			t.Fatal(err)
		}
		for _, a := range all[i] {
			delete(a, "submitted_at")
			delete(a, "finished_at")
		}
	}
	a, _ := json.Marshal(all[0]) // of maps that were decoded just now
	b, _ := json.Marshal(all[1])
	return slices.Equal(a, b)
}

// While another program holds the history, apps run all the same, a line says
// what is wrong, and later the app is in the history.
func TestHistoryIsLocked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx("", "run", h.file, "--script", "exit 0")
	db, err := sql.Open("sqlite", "file:"+h.historyFile()+"?_pragma=busy_timeout(10000)") // the agent may be at it still
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	r := h.torchx("", "run", h.file, "--script", "exit 7")
	if r.code != 7 || !strings.Contains(r.stderr, "locked") {
		t.Errorf("exit %d, want 7 and a line that says locked:\n%s", r.code, r.stderr)
	}
	if apps := h.list(); len(apps) != 1 || !apps[0].is(spec.Succeeded, 0) {
		t.Errorf("the history cannot be read while it is locked: %v", apps)
	}
	h.settled()
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if apps := h.list(); len(apps) != 2 || !apps[0].is(spec.Failed, 7) {
		t.Errorf("after the lock: %v", apps)
	}
}
