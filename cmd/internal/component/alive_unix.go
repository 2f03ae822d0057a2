//go:build unix

package component

import (
	"errors"
	"syscall"
)

// processAlive reports whether a process exists, also one of another user.
func processAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
