//go:build unix

package tarball

import (
	"io/fs"
	"syscall"
)

// blocks returns the bytes that a file takes on the disk.
func blocks(info fs.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }
