//go:build unix

package top

import (
	"fmt"
	"syscall"

	"torchx/cmd/internal/program"
)

// attach becomes `torchx attach`, which has the terminal and its keys then.
func attach(f *program.Factory, handle string) error {
	err := syscall.Exec(f.Env.Exe, []string{"torchx", "attach", handle}, f.Env.Vars)
	return fmt.Errorf("run torchx attach %s: %w", handle, err)
}
