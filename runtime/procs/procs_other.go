//go:build !linux

package procs

import "os"

// Only Linux provides this information.

// List finds nothing on this system.
func List() []Process { return nil }

// Get finds nothing on this system.
func Get(int) (Process, bool) { return Process{}, false }

// Dying is not supported on this system.
func Dying(int) bool { return false }

// Ignores is not supported on this system.
func Ignores(int, int) bool { return false }

// User is not supported on this system.
func User(int) int { return -1 }

// HasFile is not supported on this system: callers rely on other checks.
func HasFile(int, os.FileInfo) bool { return true }

// Stopped is not supported on this system: SIGCONT does not harm a running process.
func Stopped(int) bool { return true }

// HasOpen finds nothing on this system.
func HasOpen(int, func(string) bool) bool { return false }

// HasEnv finds nothing on this system.
func HasEnv(int, string) bool { return false }

func (t *Tracker) read(int) (sample, bool) { return sample{}, false }

func newestPID([]byte) int { return 0 }

func listPIDs() []int { return nil }

func exists(int) bool { return false }

func readPSS(int, []byte) (int64, bool) { return 0, false }

func readIO(int, []byte) (IO, bool) { return IO{}, false }
