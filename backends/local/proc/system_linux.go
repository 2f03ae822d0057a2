package proc

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"torchx/runtime/machine"
	"torchx/runtime/procs"
)

// becomeReaper makes this process the parent of orphans of replicas.
func becomeReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// processAttributes returns the attributes of a replica's process. group is a descriptor of
// the control group in which it starts (clone3, Linux 5.7), or -1.
func processAttributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL, UseCgroupFD: group >= 0, CgroupFD: max(group, 0),
	}
}

// openPipe does not wait for a fork in another goroutine.
func openPipe(fds *[2]int) error { return unix.Pipe2(fds[:], unix.O_CLOEXEC) }

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

// waitChild reaps one ended child and returns its resource usage. It calls before while
// the child still has its PID. ok is false if no child has ended.
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
		switch err {
		case unix.EINTR:
			continue
		case unix.ECHILD: // the caller of another program has waited for it: there may be more
			return waitChild(before)
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

// hasChildren reports whether this process has children. Without any it has no
// descendants, so a scan of all processes is not necessary.
func hasChildren() bool {
	var info siginfo
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
	return errno != unix.ECHILD
}

// ofReplicas leaves out the query of GPUs, which ends by itself, or never if the driver hangs.
func ofReplicas(all []procs.Process) []procs.Process {
	query := machine.QueryPID()
	return slices.DeleteFunc(all, func(p procs.Process) bool { return query != 0 && (p.PID == query || p.Session == query) })
}

// endDescendants ends all descendants of this process: it sends SIGTERM, waits for the
// grace period or kill, then sends SIGKILL until none is left. The reaper waits for them.
func endDescendants(grace time.Duration, kill <-chan struct{}) {
	signaled := map[procs.Process]bool{}
	graceOver := time.After(grace)
	force := false
	for hasChildren() {
		all := ofReplicas(procs.Descendants(os.Getpid()))
		if len(all) == 0 && machine.QueryPID() != 0 {
			return
		}
		for _, p := range all {
			p.Parent, p.Session = 0, 0 // PID and start time identify it
			switch {
			case force:
				_ = unix.Kill(p.PID, unix.SIGKILL)
			case !signaled[p]:
				signaled[p] = true
				_ = unix.Kill(p.PID, unix.SIGTERM)
			}
		}
		select {
		case <-graceOver:
			force = true
		case <-kill:
			force, kill = true, nil
		case <-time.After(5 * time.Millisecond):
		}
	}
}
