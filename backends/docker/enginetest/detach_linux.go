package enginetest

import "golang.org/x/sys/unix"

func detach(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
