//go:build unix

package safefile

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user ID of a file's owner, -1 if unknown.
func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
