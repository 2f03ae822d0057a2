package agent

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// closeOnExec marks all inherited descriptors except the standard ones.
func closeOnExec() error {
	err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Kernels before 5.11 lack the call.
	unix.CloseOnExec(lockFD)
	unix.CloseOnExec(readyFD)
	return nil
}

// BootID differs between two boots of the machine; "" if not known.
func BootID() string {
	data, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data))
}

// uptime returns how long the machine has been running since its boot, without the time that
// it slept, in nanoseconds; 0 if not known.
func uptime() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

// pinProcess returns a function that signals exactly the process that has the pid now.
func pinProcess(pid int) (send func(unix.Signal) error, release func(), err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, nil, err
	}
	send = func(sig unix.Signal) error { return unix.PidfdSendSignal(fd, sig, nil, 0) }
	return send, func() { unix.Close(fd) }, nil
}

// allocate reserves disk space for a file without extending it.
func allocate(f *os.File, size int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
}

// trySubreaper makes this process a subreaper. Only a process that ends soon may call it.
func trySubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func tryPidfd() error {
	send, release, err := pinProcess(os.Getpid())
	if err != nil {
		return err
	}
	defer release()
	return send(0) // signal 0 only tests
}
