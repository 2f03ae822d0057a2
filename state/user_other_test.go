//go:build !unix

package state

// Permissions are another matter on these systems.

func setUmask(int) {}

func becomeNobody() error { return nil }
