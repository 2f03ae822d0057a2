//go:build unix

package machine

import (
	"os/exec"
	"syscall"
)

// isolate gives a command its own session and makes the end of its context kill all of it.
func isolate(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return cmd.Process.Kill()
	}
}
