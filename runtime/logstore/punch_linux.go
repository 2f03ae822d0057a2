package logstore

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"torchx/runtime/safefile"
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

// maxPieces bounds how many pieces of a file with holes are looked at.
const maxPieces = 1000

// dataEnd returns where the data of a file ends that has bytes from an offset on: before
// the hole in which it may end. A power cut leaves such a file, and a command that reads a
// hole of terabytes does not end.
func dataEnd(name string, info os.FileInfo, from int64) int64 {
	size := info.Size()
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Blocks*512 >= size {
		return size
	}
	f, err := safefile.Open(name)
	if err != nil {
		return size
	}
	defer f.Close()
	for range maxPieces {
		start, err := f.Seek(from, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return from
		}
		if err == nil {
			from, err = f.Seek(start, unix.SEEK_HOLE)
		}
		if err != nil || from >= size {
			return size
		}
	}
	return size
}

// datasync makes the content of a file that does not grow survive a power cut.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
