//go:build unix

package docker

import (
	"strings"
	"testing"
)

// TestPausedOnScreen: status, its JSON and list show a paused container, until it continues.
func TestPausedOnScreen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.start("--script", "sleep 600")
	name, said := id+"-r-0", "paused: `docker unpause "+id+"-r-0` continues it"
	if err := h.engine.Client.ContainerPause(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	h.waitFor("the message", func() bool { return strings.Contains(h.torchx("status", id).stdout, said) })
	t.Log(h.torchx("status", id).stdout)
	if out := h.torchx("status", "--json", id).stdout; strings.Count(out, said) != 2 {
		t.Errorf("status --json: got %s, want %q of the app and its replica", out, said)
	}
	if err := h.engine.Client.ContainerUnpause(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	h.waitFor("the end of the message", func() bool { return !strings.Contains(h.torchx("status", id).stdout, "paused") })
}
