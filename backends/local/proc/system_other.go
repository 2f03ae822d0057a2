//go:build unix && !linux

package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// becomeReaper: orphans go to process 1 on this system.
func becomeReaper() error { return nil }

func processAttributes(int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func startTime(int) uint64 { return 0 }

// waitChild collects one ended child and what it used. This system cannot look before it waits, so
// the group is ended just after: the pid cannot be given away while a member is left.
func waitChild(before func(pid int)) (pid int, status unix.WaitStatus, usage unix.Rusage, ok bool) {
	for {
		got, err := unix.Wait4(-1, &status, unix.WNOHANG, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			return 0, 0, usage, false
		}
		before(got)
		return got, status, usage, true
	}
}

func descendants(int) []int { return nil }

// endDescendants does nothing: this system does not list descendants. Groups end with
// their leaders.
func endDescendants(time.Duration, <-chan struct{}) {}
