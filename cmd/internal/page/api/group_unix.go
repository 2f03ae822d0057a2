//go:build unix

package api

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps Ctrl-C of this server's terminal from a command.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
