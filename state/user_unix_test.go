//go:build unix

package state

import (
	"errors"
	"os"
	"syscall"
)

func setUmask(mask int) { syscall.Umask(mask) }

// dropRoot drops root privileges, since permissions do not apply to root.
func dropRoot() error {
	const nobody = 65534
	if os.Getuid() != 0 {
		return nil
	}
	return errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody))
}
