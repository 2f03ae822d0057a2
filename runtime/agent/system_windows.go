package agent

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

const continueSignal = syscall.Signal(18)

// detached makes a process outlive the terminal.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// Apps never run on Windows: there is nothing to end or to signal.

func kill(int) {}

func selfTest() SelfTest { return SelfTest{} }

func closeOnExec() error { return nil }

// BootID is not known.
func BootID() string { return "" }

func pinProcess(int) (send func(syscall.Signal) error, release func(), err error) {
	return nil, nil, errors.ErrUnsupported
}

func allocate(*os.File, int64) error { return errors.ErrUnsupported }

// uptime is not known.
func uptime() int64 { return 0 }
