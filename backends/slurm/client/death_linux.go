package client

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends a command when this program is killed: an sbatch that goes on would submit a
// job that the history does not have.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
