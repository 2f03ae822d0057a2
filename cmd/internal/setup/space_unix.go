//go:build unix

package setup

import (
	"golang.org/x/sys/unix"
)

// hasModes says that files have permissions.
const hasModes = true

// freeSpace returns what this user can still write to the file system of a folder, in bytes and in
// files; files is -1 if there is no limit.
func freeSpace(dir string) (bytes, files int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	files = int64(st.Ffree)
	if st.Files == 0 { // btrfs and others create inodes on demand
		files = -1
	}
	return int64(st.Bavail) * int64(st.Bsize), files, nil //nolint:unconvert // their types differ between systems
}
