package local

import (
	"context"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"torchx/runtime/backend"
)

// minWatches is the default of small machines. Large editors alone need as many.
const minWatches = 8192

func (b *Backend) systemDiagnostics() []backend.Diagnostic {
	return []backend.Diagnostic{{Name: "file watches", Run: b.watchesCheck, Minor: true}}
}

// watchesCheck checks inotify, which wakes followers of logs.
func (b *Backend) watchesCheck(context.Context) backend.Check {
	const name = "file watches"
	const late = "followers of logs poll instead"
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return backend.WarningCheck(name, "raise fs.inotify.max_user_instances with sysctl, or stop programs that use many",
			"no inotify instance available (limit %d): %v; %s", inotifyLimit("max_user_instances"), err, late)
	}
	defer unix.Close(fd)
	const fix = "raise fs.inotify.max_user_watches with sysctl"
	if _, err := unix.InotifyAddWatch(fd, b.Home, unix.IN_MODIFY); err != nil {
		return backend.WarningCheck(name, fix, "%s cannot be watched: %v; %s", b.Home, err, late)
	}
	if n := inotifyLimit("max_user_watches"); n > 0 && n < minWatches {
		return backend.WarningCheck(name, fix, "this user can watch only %d files and folders", n)
	}
	return backend.PassedCheck(name, "followers of logs are notified of new lines")
}

// inotifyLimit returns a limit of inotify(7), 0 if it cannot be read.
func inotifyLimit(name string) int {
	data, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}
