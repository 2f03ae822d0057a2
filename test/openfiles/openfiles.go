//go:build unix

// Package openfiles lets tests that open many files run where few may be open (`ulimit -n`).
package openfiles

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// AtMost returns want, or less if that many things, each of which opens a number of files, would
// take more than a quarter of the files that a process may open: other tests run in the same
// process.
func AtMost(t testing.TB, want, each int) int {
	t.Helper()
	return min(want, max(1, hardLimit(t)/4/each))
}

// Need skips a test that has to open more files than the hard limit allows. With files in
// TORCHX_REQUIRE the test fails.
func Need(t testing.TB, files int) {
	t.Helper()
	switch limit := hardLimit(t); {
	case limit >= files:
	case slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "files"):
		t.Fatalf("the test needs %d open files, the hard limit is %d", files, limit)
	default:
		t.Skipf("the test needs %d open files, the hard limit is %d; TORCHX_REQUIRE=files makes this a failure", files, limit)
	}
}

func hardLimit(t testing.TB) int {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return int(min(limit.Max, 1<<30))
}
