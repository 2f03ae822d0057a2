//go:build !unix

package state

// These systems have no read-only or full errors of their own kind here, and an
// open file cannot be renamed under another process, so no lock is needed.

func isReadOnlyFS(error) bool { return false }

func isNoSpace(error) bool { return false }

func lockFile(string) (func(), error) { return func() {}, nil }

func canMap(string) bool { return true }
