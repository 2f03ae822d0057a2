package proc

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"torchx/runtime/procs"
)

// becomeReaper makes orphans of replicas children of this process.
func becomeReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// processAttributes of a replica; group is the folder of its control group, which it is
// born in (clone3, Linux 5.7), or -1.
func processAttributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL, UseCgroupFD: group >= 0, CgroupFD: max(group, 0),
	}
}

func startTime(pid int) uint64 {
	p, _ := procs.Get(pid)
	return p.Start
}

// siginfo is the head of the kernel's siginfo_t for SIGCHLD.
type siginfo struct {
	signo, errno, code int32
	_                  int32 // alignment of the union on 64-bit systems
	pid                int32
	_                  [128 - 5*4]byte
}

// waitChild collects one ended child and what it used; before runs while the
// child still holds its pid. ok is false if none has ended.
func waitChild(before func(pid int)) (pid int, status unix.WaitStatus, usage unix.Rusage, ok bool) {
	var info siginfo
	for {
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)),
			unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || info.pid == 0 {
			return 0, 0, usage, false
		}
		break
	}
	before(int(info.pid))
	for {
		got, err := unix.Wait4(int(info.pid), &status, unix.WNOHANG, &usage)
		if err == unix.EINTR {
			continue
		}
		return got, status, usage, err == nil && got > 0
	}
}

func descendants(pid int) []int {
	var pids []int
	for _, p := range procs.Descendants(pid) {
		pids = append(pids, p.PID)
	}
	return pids
}

// hasChildren spares a look at all processes: a reaper without children has no
// descendants.
func hasChildren() bool {
	var info siginfo
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
	return errno != unix.ECHILD
}

// endDescendants ends every process below this one: SIGTERM, the grace period or
// the kill signal, SIGKILL until none is left. Waiting for them is the reaper's work.
func endDescendants(grace time.Duration, kill <-chan struct{}) {
	told := map[procs.Process]bool{}
	patience := time.After(grace)
	over := false
	for hasChildren() {
		for _, p := range procs.Descendants(os.Getpid()) {
			p.Parent, p.Session = 0, 0 // pid and start time name it
			switch {
			case over:
				_ = unix.Kill(p.PID, unix.SIGKILL)
			case !told[p]:
				told[p] = true
				_ = unix.Kill(p.PID, unix.SIGTERM)
			}
		}
		select {
		case <-patience:
			over = true
		case <-kill:
			over, kill = true, nil
		case <-time.After(5 * time.Millisecond):
		}
	}
}
