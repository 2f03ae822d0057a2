//go:build unix

package procs

import (
	"syscall"
	"time"
)

// CPUTime returns the processor time that this process has used, in all its threads.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
