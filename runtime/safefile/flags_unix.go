//go:build unix

package safefile

import "golang.org/x/sys/unix"

const (
	noFollow = unix.O_NOFOLLOW
	nonblock = unix.O_NONBLOCK // a named pipe without a writer is opened at once
)
