package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
)

// TestLogFailedGoesOn: an unreadable log does not hide the others.
func TestLogFailedGoesOn(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	r := torchx(t, dir, nil, "", "run", "-cfg", "fail_fast=false", "comps.star:two", "--first", "echo one; exit 1", "--second", "echo two; exit 2")
	handle := strings.TrimSpace(r.out)
	found, err := filepath.Glob(filepath.Join(dir, "home", "apps", "*", "replicas", "a", "0", "0"))
	must(t, err)
	if len(found) != 1 {
		t.Fatal(found)
	}
	// A folder in place of the stream makes reading fail.
	must(t, os.Remove(filepath.Join(found[0], "stdout.log")))
	must(t, os.Mkdir(filepath.Join(found[0], "stdout.log"), 0o700))
	r = torchx(t, dir, nil, "", "log", "--failed", handle)
	if strings.Count(r.out, "two\n") != 2 || r.code != program.ExitError || strings.Count(r.err, "error: ") != 1 {
		t.Errorf("%+v", r)
	}
}
