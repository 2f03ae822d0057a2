//go:build race

package interp

// stuckAt returns only the file: the race detector would report a read of a running goroutine's
// stack.
func stuckAt(r *run) string { return r.subject }
