package local

import "golang.org/x/sys/unix"

// pipeIsLarge reports whether a pipe holds more than one page, so it is not in step.
func pipeIsLarge(fd uintptr) bool {
	size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
	return err == nil && size > 4096
}
