//go:build unix

package interp

import "syscall"

// openNonblock keeps the open of a pipe without a writer from blocking.
const openNonblock = syscall.O_NONBLOCK
