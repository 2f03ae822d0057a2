//go:build unix

package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
)

// TestSpawnHidesTheCommandLine: other users can read the arguments of a process, so a secret of a
// rerun is on its stdin.
func TestSpawnHidesTheCommandLine(t *testing.T) {
	t.Parallel()
	exe := filepath.Join(t.TempDir(), "torchx")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\necho \"$@\"\ncat\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	f := &program.Factory{}
	f.Env.Exe, f.Env.Dir = exe, t.TempDir()
	out, _, err := (&API{program: f}).spawn(t.Context(), "", "rerun", "-d", "a", "--env=MY_TOKEN=hunter2")
	if err != nil {
		t.Fatal(err)
	}
	args, input, _ := strings.Cut(string(out), "\n")
	if args != CallCommand || input != `["rerun","-d","a","--env=MY_TOKEN=hunter2"]` {
		t.Errorf("got arguments %q and stdin %q, want the command line on stdin only", args, input)
	}
}
