//go:build unix

package bundled

import (
	"io/fs"
	"syscall"
)

// blockSize is the unit of st_blocks (stat(2)), whatever the file system's is.
const blockSize = 512

// diskBytes is what a file takes of its disk, as du counts it.
func diskBytes(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * blockSize
	}
	return info.Size()
}
