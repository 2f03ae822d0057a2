//go:build unix

package safefile

import "golang.org/x/sys/unix"

const (
	noFollow = unix.O_NOFOLLOW
	nonblock = unix.O_NONBLOCK // opens a named pipe without waiting for a writer
)
