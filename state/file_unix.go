//go:build unix

package state

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func isReadOnlyFS(err error) bool { return errors.Is(err, unix.EROFS) }

func isNoSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// canMap reports whether a file in the folder can be mapped together with others,
// which the index of a WAL needs. It is tried with a file of its own, see createFile.
// A folder that cannot be written tells nothing.
func canMap(dir string) bool {
	f, err := os.CreateTemp(dir, ".state-*")
	if err != nil {
		return true
	}
	defer os.Remove(f.Name())
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err == nil {
		_ = unix.Munmap(data) // nothing was read or written
	}
	// What else can go wrong (memory, limits) is not the file system's.
	return !errors.Is(err, unix.ENODEV) && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS)
}
