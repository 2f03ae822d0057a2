//go:build unix

package slurm

import "syscall"

const logEnded = syscall.SIGUSR1
