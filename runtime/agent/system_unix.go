//go:build unix

package agent

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const continueSignal = unix.SIGCONT

// detached makes a process outlive the terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// kill kills a process; it may have ended already.
func kill(pid int) { _ = unix.Kill(pid, unix.SIGKILL) }

func selfTest() SelfTest {
	found := SelfTest{Subreaper: reason(trySubreaper()), Pidfd: reason(tryPidfd())}
	if sid, err := unix.Getsid(0); err != nil || sid != os.Getpid() {
		found.Session = fmt.Sprintf("it is in session %d of another process", sid)
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		found.OpenFiles = limit.Cur // the Go runtime has raised it to the hard limit
	}
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil &&
		limit.Cur != unix.RLIM_INFINITY && os.Getuid() != 0 {
		found.Processes = limit.Cur
	}
	return found
}
