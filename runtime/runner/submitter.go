package runner

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"torchx/runtime/procs"
)

// bootIDFile changes with every boot (Linux), after which start times begin anew.
const bootIDFile = "/proc/sys/kernel/random/boot_id"

// submitter describes this process as "pid:starttime:bootid". Values that the system does
// not provide are empty.
func submitter() string {
	start := ""
	if p, ok := procs.Get(os.Getpid()); ok {
		start = strconv.FormatUint(p.Start, 10)
	}
	return fmt.Sprintf("%d:%s:%s", os.Getpid(), start, bootID())
}

func bootID() string {
	data, err := os.ReadFile(bootIDFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// alive reports whether the process described by a submitter string still runs. A malformed
// string means no process.
func alive(text string) bool {
	f := strings.Split(text, ":")
	pid, err := strconv.Atoi(f[0])
	if len(f) != 3 || err != nil || pid <= 0 {
		return false
	}
	if f[1] == "" {
		return isRunning(pid)
	}
	p, ok := procs.Get(pid)
	return ok && !p.Zombie && f[2] == bootID() && f[1] == strconv.FormatUint(p.Start, 10)
}

// isRunning is for systems without start times. A reused pid counts as the same process: it
// is safer to leave an app than to remove it.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" {
		return true // FindProcess has opened the process
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
}

func (r *Runner) submitterAlive(text string) bool {
	if r.Alive != nil {
		return r.Alive(text)
	}
	return alive(text)
}
