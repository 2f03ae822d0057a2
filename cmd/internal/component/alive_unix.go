//go:build unix

package component

import (
	"errors"
	"syscall"
)

// processAlive reports whether there is a process, be it somebody else's.
func processAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
