//go:build !unix

package bundled

import "io/fs"

// diskBytes returns the length of a file: its disk usage is not known on this system.
func diskBytes(info fs.FileInfo) int64 { return info.Size() }
