//go:build unix

package component

import (
	"errors"
	"syscall"
)

// processAlive reports whether a process exists, including processes of other users.
func processAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
