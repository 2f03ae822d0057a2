//go:build !unix

package doctor

import "errors"

// hasModes reports that files have no Unix permissions.
const hasModes = false

func freeSpace(string) (bytes, files int64, err error) {
	return 0, 0, errors.New("not supported on this system")
}
