//go:build unix

package state

import (
	"errors"
	"os"
	"syscall"
)

func setUmask(mask int) { syscall.Umask(mask) }

// becomeNobody gives up the rights of root, for whom permissions do not hold.
func becomeNobody() error {
	const nobody = 65534
	if os.Getuid() != 0 {
		return nil
	}
	return errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody))
}
