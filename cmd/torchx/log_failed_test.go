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

// TestLogFailedOfMany: only the first of many unreadable logs are explained, the others are counted.
func TestLogFailedOfMany(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	r := torchx(t, dir, nil, "", "run", "-cfg", "fail_fast=false", "utils.sh", "--num_replicas", "6", "sh", "-c", "echo one; exit 1")
	handle := strings.TrimSpace(r.out)
	found, err := filepath.Glob(filepath.Join(dir, "home", "apps", "*", "replicas", "sh", "*", "0"))
	must(t, err)
	if len(found) != 6 {
		t.Fatalf("got %d logs, want 6", len(found))
	}
	for _, log := range found[1:] {
		must(t, os.Remove(filepath.Join(log, "stdout.log")))
		must(t, os.Mkdir(filepath.Join(log, "stdout.log"), 0o700))
	}
	r = torchx(t, dir, nil, "", "log", "--failed", handle)
	if r.code != program.ExitError || strings.Count(r.err, "error: ") != 3 || !strings.Contains(r.err, "the logs of 2 more failed replicas cannot be read") {
		t.Errorf("got %+v, want three errors and the number of the others", r)
	}
}
