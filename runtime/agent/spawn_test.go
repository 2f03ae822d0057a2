package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEndCause: the message about an agent that did not start names the cause of a crash.
func TestEndCause(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "no reason given",
		"a\nfork: no memory\n":       "fork: no memory",
		"panic: broken\n\nmain.go:1": "panic: broken",
		"runtime: failed to create new OS thread (have 9 already; errno=11)\nfatal error: newosproc\n\n\tasm.s:1 +0x1\n": "the user has as many processes and threads as ulimit -u allows",
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\ngs     0x0\n":             "the user has as many processes and threads as ulimit -u allows",
	} {
		path := filepath.Join(t.TempDir(), "agent.log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := endCause(path); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
