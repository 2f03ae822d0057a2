package state

import "golang.org/x/sys/unix"

// networkFS reports whether the folder is on a file system that several machines can mount. The
// numbers are from statfs(2) and linux/magic.h.
func networkFS(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC,
		0x0bd00bd0, // Lustre
		0x47504653, // GPFS
		0x01161970: // GFS2
		return true
	}
	return false
}
