//go:build !linux

package procs

// List finds nothing on this system.
func List() []Process { return nil }

// Get finds nothing on this system.
func Get(int) (Process, bool) { return Process{}, false }

// HasEnv finds nothing on this system.
func HasEnv(int, string) bool { return false }
