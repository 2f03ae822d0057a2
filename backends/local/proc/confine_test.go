//go:build linux

package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// The message follows "replica r/0 failed first: ".
func TestOOMMessage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, events string
		max          int64
		want         string
	}{
		{"killed", "oom 1\noom_kill 2\n", 512 << 20, "killed because it used more than its 512 MB"},
		{"not killed", "oom 0\noom_kill 0\n", 512 << 20, ""},
		{"killed by an outer limit", "oom 0\noom_kill 1\n", 0, ""},
	}
	for _, test := range tests {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte(test.events), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&process{group: dir, maxMemory: test.max}).oomMessage(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := (&process{maxMemory: 1}).oomMessage(); got != "" {
		t.Errorf("without a group: got %q, want none", got)
	}
}

func TestExecLimitedInvalidArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"1", "/bin/true"}, {"x", "/bin/true", "true"}, {"-1", "/bin/true", "true"}} {
		if code, err := ExecLimited(args); code != 125 || err == nil {
			t.Errorf("%q: got %d, %v, want 125 and an error", args, code, err)
		}
	}
}
