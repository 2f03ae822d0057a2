//go:build unix

package podarchive

import "syscall"

// openFiles returns how many files this process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return usualFiles
	}
	return int(min(uint64(limit.Cur), 1<<20)) //nolint:unconvert // Cur is signed on some systems
}
