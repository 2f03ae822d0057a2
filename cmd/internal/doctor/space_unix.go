//go:build unix

package doctor

import (
	"golang.org/x/sys/unix"
)

// hasModes: permissions of files mean something here.
const hasModes = true

// freeSpace is what this user can still write to the file system of a folder:
// bytes, and how many files, -1 if there is no limit.
func freeSpace(dir string) (bytes, files int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	files = int64(st.Ffree)
	if st.Files == 0 { // btrfs and others make them as needed
		files = -1
	}
	return int64(st.Bavail) * int64(st.Bsize), files, nil //nolint:unconvert // their types differ between systems
}
