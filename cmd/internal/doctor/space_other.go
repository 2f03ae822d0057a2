//go:build !unix

package doctor

import "errors"

// hasModes says that files have permissions.
const hasModes = false

func freeSpace(string) (bytes, files int64, err error) {
	return 0, 0, errors.New("not supported on this system")
}
