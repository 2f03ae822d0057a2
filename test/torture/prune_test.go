//go:build unix

package torture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/failpoint"
)

// If prune is killed, the next command finishes the removal of its app, also if the history
// was lost in between.
func TestKillDuringPrune(t *testing.T) {
	t.Parallel()
	for _, point := range []string{failpoint.RemovalNoted, failpoint.Removed, failpoint.Removed + ":2"} {
		for _, historyLost := range []bool{false, true} {
			name := point
			if historyLost {
				name += ", history lost"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				h.torchx("", "run", h.file, "--script", "echo one")
				first := h.onlyApp().AppID
				h.torchx("", "run", h.file, "--script", "echo two")
				h.waitForAgents()
				if r := h.torchx(point, "prune", "--all", "-f"); r.code != 137 {
					t.Fatalf("the command was not killed: exit %d %s", r.code, r.stderr)
				}
				if historyLost {
					files, _ := filepath.Glob(filepath.Join(h.dir, "state.db*"))
					for _, f := range files {
						if err := os.Remove(f); err != nil {
							t.Fatal(err)
						}
					}
				}
				apps := map[string]bool{}
				for _, a := range h.list() {
					apps[a.AppID] = true
					if r := h.torchx("", "log", a.AppID); r.code != 0 || r.stdout == "" {
						t.Errorf("%s is listed, but has no log: %s", a.AppID, r.stderr)
					}
				}
				bundles, _ := filepath.Glob(filepath.Join(h.dir, "apps", "*"))
				for _, b := range bundles {
					if !apps[filepath.Base(b)] {
						t.Errorf("%s exists, but is not listed", b)
					}
				}
				if len(bundles) != len(apps) {
					t.Errorf("got %d listed apps and %d bundles", len(apps), len(bundles))
				}
				r := h.torchx("", "status", first)
				if removed := strings.Contains(r.stderr, "by `torchx prune`"); removed == historyLost {
					t.Errorf("status: exit %d %s", r.code, r.stderr)
				}
			})
		}
	}
}
