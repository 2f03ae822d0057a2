package logstore

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"torchx/runtime/safefile"
)

// punch frees the bytes [from,to) of the disk: they read as zeroes, and all others keep their
// offsets. ext4, XFS, Btrfs, tmpfs and NFS 4.2 support it.
func punch(f *os.File, from, to int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// maxPieces bounds how many pieces of a file with holes are examined.
const maxPieces = 1000

// dataEnd returns the end of the data at or after offset from: the start of the hole at the
// end of the file, if any. A power cut leaves such holes, and reading one of terabytes would
// take forever.
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

// datasync makes the content of a file whose size does not change survive a power cut.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
