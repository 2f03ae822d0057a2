//go:build unix

package page

import "syscall"

// detached gives a server in the background its own session.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
