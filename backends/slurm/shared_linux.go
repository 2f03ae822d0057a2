package slurm

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"torchx/runtime/backend"
)

// localSystems lists file systems on disks of one machine, by their types of statfs(2).
var localSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.F2FS_SUPER_MAGIC: "f2fs",
}

// checkFolder checks that apps can have their folders below dir. Whether compute nodes have it can
// only be guessed by its file system.
func checkFolder(dir string) backend.Check {
	at := dir
	for unix.Access(at, unix.F_OK) != nil && at != "/" {
		at = filepath.Dir(at) // Submit creates what is missing
	}
	if err := unix.Access(at, unix.W_OK|unix.X_OK); err != nil {
		return backend.FailedCheck(folderCheck, "choose another by -cfg job_dir=DIR",
			"apps cannot have folders in %s: %s: %v", dir, at, err)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(at, &s); err != nil {
		return backend.FailedCheck(folderCheck, "choose another by -cfg job_dir=DIR",
			"apps cannot have folders in %s: %v", dir, err)
	}
	if name := localSystems[int64(s.Type)]; name != "" { //nolint:unconvert // it is 32 bits wide on some systems
		return backend.WarningCheck(folderCheck, "choose a shared folder by -cfg job_dir=DIR, unless the nodes share this one", "%s is on a disk of this machine (%s): all nodes must have the folders of apps", dir, name)
	}
	return backend.PassedCheck(folderCheck, "%s, on a file system that machines can share", dir)
}
