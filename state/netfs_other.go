//go:build !linux

package state

// networkFS is not supported on this system: only SQLite's own check of the WAL applies.
func networkFS(string) bool { return false }
