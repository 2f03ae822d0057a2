//go:build !unix

package state

// These systems have no distinct errors for read-only or full file systems.

func isReadOnlyFS(error) bool { return false }

func isNoSpace(error) bool { return false }

func canMap(string) bool { return true }
