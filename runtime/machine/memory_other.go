//go:build !linux && !darwin

package machine

import "errors"

func memory() (bytes uint64, err error) { return 0, errors.ErrUnsupported }
