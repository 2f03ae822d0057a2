//go:build race

package interp

// stuckAt names the file only: the race detector would report the look at the
// stack of a running goroutine.
func stuckAt(r *run) string { return r.subject }
