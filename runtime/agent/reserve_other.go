//go:build !linux

package agent

import (
	"errors"
	"os"
)

// allocate is not possible on this system.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
