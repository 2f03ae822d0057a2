//go:build unix && !linux

package agent

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeOnExec marks the descriptors that Spawn passes; there are no others.
func closeOnExec() error {
	unix.CloseOnExec(lockFD)
	unix.CloseOnExec(readyFD)
	return nil
}

// BootID differs between two boots of the machine; "" if not known.
func BootID() string {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return strconv.FormatInt(int64(t.Sec), 10)
}

// uptime is not known on this system.
func uptime() int64 { return 0 }

func pinProcess(pid int) (send func(unix.Signal) error, release func(), err error) {
	send = func(sig unix.Signal) error { return unix.Kill(pid, sig) }
	return send, func() {}, nil
}

// allocate is not supported on this system.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }

// This system supports neither; the agent runs without.

func trySubreaper() error { return nil }

func tryPidfd() error { return nil }
