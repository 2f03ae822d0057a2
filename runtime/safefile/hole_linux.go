package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// NextData returns the offset of the first byte at or after offset that is not in a hole of a
// sparse file, size if there is none. It returns offset where the file system does not tell.
func NextData(f *os.File, offset, size int64) int64 {
	at, err := unix.Seek(int(f.Fd()), offset, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size
	case err != nil:
		return offset
	}
	return min(at, size)
}
