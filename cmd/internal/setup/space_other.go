//go:build !unix

package setup

import "errors"

// hasModes says that files have permissions.
const hasModes = false

func freeSpace(string) (bytes, files int64, err error) {
	return 0, 0, errors.New("not supported on this system")
}
