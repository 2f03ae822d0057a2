package machine

import "golang.org/x/sys/unix"

func memory() (bytes uint64, err error) { return unix.SysctlUint64("hw.memsize") }
