//go:build unix && !linux

package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// becomeReaper does nothing: on this system process 1 adopts orphans.
func becomeReaper() error { return nil }

func processAttributes(int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func openPipe(fds *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(fds[:]); err != nil {
		return err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return nil
}

func startTime(int) uint64 { return 0 }

// waitChild reaps one ended child and returns its resource usage. This system cannot look
// before it reaps, so before is called after: the PID is not reused while its process
// group has members.
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

// endDescendants does nothing: this system does not list descendants. Process groups end
// with their leaders.
func endDescendants(time.Duration, <-chan struct{}) {}
