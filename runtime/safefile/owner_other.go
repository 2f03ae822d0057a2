//go:build !unix

package safefile

import "io/fs"

// ownerOf is not supported on this system.
func ownerOf(fs.FileInfo) int { return -1 }
