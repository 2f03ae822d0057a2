//go:build !linux

package state

// networkFS is not known here: SQLite's own refusal of a WAL is what remains.
func networkFS(string) bool { return false }
