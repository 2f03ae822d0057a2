//go:build unix

package supervised

import (
	"io/fs"
	"syscall"
)

// blockSize is the unit of st_blocks (stat(2)) on all file systems.
const blockSize = 512

// diskBytes returns the disk usage of a file, as du does.
func diskBytes(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * blockSize
	}
	return info.Size()
}
