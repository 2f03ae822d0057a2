// Package long makes tests shorter in `make test`, which gives -short; `.ci/run` runs all of them
// whole.
package long

import "testing"

// Test skips a test, or a case of one, that takes seconds of CPU time.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes long: `make test SHORT=` runs it")
	}
}

// N returns how often a test repeats what it does: whole times, or few with -short.
func N(whole, few int) int {
	if testing.Short() {
		return few
	}
	return whole
}
