//go:build !linux

package procs

// List finds nothing on this system.
func List() []Process { return nil }

// Get finds nothing on this system.
func Get(int) (Process, bool) { return Process{}, false }

// HasOpen finds nothing on this system.
func HasOpen(int, func(string) bool) bool { return false }

// HasEnv finds nothing on this system.
func HasEnv(int, string) bool { return false }
