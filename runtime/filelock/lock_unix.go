//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func lock(f *os.File, mode int) error {
	how := unix.LOCK_SH
	if mode&exclusive != 0 {
		how = unix.LOCK_EX
	}
	if mode&blocking == 0 {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrHeld
		default:
			return err
		}
	}
}
