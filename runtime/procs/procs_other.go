//go:build !linux

package procs

import "os"

// Only Linux tells about processes.

// List finds nothing on this system.
func List() []Process { return nil }

// Get finds nothing on this system.
func Get(int) (Process, bool) { return Process{}, false }

// Dying is not known on this system.
func Dying(int) bool { return false }

// Ignores is not known on this system.
func Ignores(int, int) bool { return false }

// User is not known on this system.
func User(int) int { return -1 }

// HasFile is not known on this system: the caller's other marks have to do.
func HasFile(int, os.FileInfo) bool { return true }

// Stopped is not known on this system: a process that runs takes no harm from SIGCONT.
func Stopped(int) bool { return true }

// HasOpen finds nothing on this system.
func HasOpen(int, func(string) bool) bool { return false }

// HasEnv finds nothing on this system.
func HasEnv(int, string) bool { return false }

func samples() []sample { return nil }
