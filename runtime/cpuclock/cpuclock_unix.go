//go:build unix

// Package cpuclock measures the processor time of this process.
package cpuclock

import (
	"syscall"
	"time"
)

// Used returns the processor time that this process has used, in all its threads.
func Used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
