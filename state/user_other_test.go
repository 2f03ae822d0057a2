//go:build !unix

package state

// Permissions work differently on these systems.

func setUmask(int) {}

func dropRoot() error { return nil }
