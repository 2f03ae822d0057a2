//go:build unix

package slurm

import (
	"os/exec"
	"syscall"
)

// detach gives srun a process group of its own: the terminal would send it signals twice.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
