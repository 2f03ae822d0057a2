package logstore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// punch gives the bytes [from,to) back to the disk; they read as zeroes and all
// others stay where they are. Not every file system can do it: ext4, XFS, Btrfs,
// tmpfs and NFS 4.2 can.
func punch(f *os.File, from, to int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// datasync makes the content of a file that does not grow survive a power cut.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
