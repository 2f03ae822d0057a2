//go:build linux

package torture

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // opens the history as another program would

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

func (h *home) historyFile() string { return filepath.Join(h.dir, "state.db") }

// runTwoApps runs two apps and returns the output of list and describe.
func (h *home) runTwoApps() (list, describe string) {
	h.Helper()
	h.torchx("", "run", h.file, "--script", "exit 0")
	h.torchx("", "run", h.file, "--script", "exit 5", "--num_replicas", "2")
	return h.listJSON(), h.describeJSON()
}

func (h *home) listJSON() string {
	h.Helper()
	return h.torchx("", "list", "--all", "--json").stdout
}

// describeJSON returns what `describe --json` prints without the time of submission: that of
// the record is slightly before that of the bundle.
func (h *home) describeJSON() string {
	h.Helper()
	return submittedAt.ReplaceAllString(h.torchx("", "describe", "--json", "-").stdout, "")
}

var submittedAt = regexp.MustCompile(`(?m)^ *"submitted_at": .*\n`)

// A command reports a lost history, keeps a corrupt one aside, and fills a new one from the
// bundles with everything that list and describe show.
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
		aside  int // files kept aside
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
			// As after an agent that created the history, or a command that died.
			h.torchx(failpoint.Filling, "list")
		}, "2 apps", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			list, describe := h.runTwoApps()
			test.damage(h)
			if r := h.torchx("", "status", "-"); !strings.Contains(r.stderr, test.says) || r.code != 0 {
				t.Errorf("exit %d, want %q in stderr:\n%s", r.code, test.says, r.stderr)
			}
			if got := h.listJSON(); !sameApps(t, got, list) {
				t.Errorf("list: got %s\nwant %s", got, list)
			}
			if got := h.describeJSON(); got != describe {
				t.Errorf("describe: got %s\nwant %s", got, describe)
			}
			files, err := filepath.Glob(h.historyFile() + ".corrupt-*Z")
			if err != nil || len(files) != test.aside {
				t.Errorf("got files %v aside (%v), want %d", files, err, test.aside)
			}
		})
	}
}

// sameApps compares lists without times, because those of the record are slightly before
// those of the bundle.
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
	a, _ := json.Marshal(all[0]) // cannot fail: decoded above
	b, _ := json.Marshal(all[1])
	return slices.Equal(a, b)
}

// While another program locks the history, apps run with a warning, and are added to the
// history later.
func TestHistoryIsLocked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx("", "run", h.file, "--script", "exit 0")
	db, err := sql.Open("sqlite", "file:"+h.historyFile()+"?_pragma=busy_timeout(10000)") // the agent may still use it
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
		t.Errorf("exit %d, want 7 and a warning about the lock:\n%s", r.code, r.stderr)
	}
	if apps := h.list(); len(apps) != 1 || !apps[0].is(spec.Succeeded, 0) {
		t.Errorf("list with a locked history: got %v, want the first app", apps)
	}
	h.waitForAgents()
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if apps := h.list(); len(apps) != 2 || !apps[0].is(spec.Failed, 7) {
		t.Errorf("list after the lock: got %v, want two apps", apps)
	}
}
