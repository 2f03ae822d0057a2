//go:build !unix

package state

// These systems have no read-only or full errors of their own kind here.

func isReadOnlyFS(error) bool { return false }

func isNoSpace(error) bool { return false }

func canMap(string) bool { return true }
