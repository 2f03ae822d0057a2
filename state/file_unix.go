//go:build unix

package state

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func isReadOnlyFS(err error) bool { return errors.Is(err, unix.EROFS) }

func isNoSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// canMap reports whether the folder supports shared mappings, which the index of a WAL needs. It
// tests a temporary file, see createFile. If the folder is not writable, it returns true.
func canMap(dir string) bool {
	f, err := os.CreateTemp(dir, ".state-*")
	if err != nil {
		return true
	}
	defer os.Remove(f.Name())
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err == nil {
		_ = unix.Munmap(data) // failure is harmless: nothing was mapped for use
	}
	// Other errors (memory, limits) are not caused by the file system.
	return !errors.Is(err, unix.ENODEV) && !errors.Is(err, unix.EINVAL) &&
		!errors.Is(err, unix.ENOSYS)
}
