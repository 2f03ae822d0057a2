package machine

import "golang.org/x/sys/unix"

func memory() (bytes uint64, err error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	return uint64(info.Totalram) * uint64(info.Unit), nil //nolint:unconvert // 32 bits wide on some machines
}
