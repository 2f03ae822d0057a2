//go:build linux

package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// The words of an out-of-memory kill stand behind "replica r/0 failed first: ".
func TestKilledForItsMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, events string
		max          int64
		want         string
	}{
		{"killed", "oom 1\noom_kill 2\n", 512 << 20, "killed because it used more than its 512 MB"},
		{"fine", "oom 0\noom_kill 0\n", 512 << 20, ""},
		{"of an outer limit", "oom 0\noom_kill 1\n", 0, ""},
	}
	for _, test := range tests {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte(test.events), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&process{group: dir, maxMemory: test.max}).oomMessage(); got != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	if got := (&process{maxMemory: 1}).oomMessage(); got != "" {
		t.Errorf("without a group: %q", got)
	}
}

func TestExecLimitedRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"1", "/bin/true"}, {"x", "/bin/true", "true"}, {"-1", "/bin/true", "true"}} {
		if code, err := ExecLimited(args); code != 125 || err == nil {
			t.Errorf("%q: %d, %v", args, code, err)
		}
	}
}
