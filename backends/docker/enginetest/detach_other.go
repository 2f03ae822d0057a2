//go:build unix && !linux

package enginetest

func detach(string) error { return nil }
