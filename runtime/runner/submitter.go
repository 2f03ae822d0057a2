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

// bootIDFile differs after every boot (Linux): start times begin anew then.
const bootIDFile = "/proc/sys/kernel/random/boot_id"

// submitter describes this process as "pid:starttime:bootid". What the system
// does not tell is empty.
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

// alive reports whether the process that submitter described still runs. A text
// of another form is of no process.
func alive(text string) bool {
	f := strings.Split(text, ":")
	pid, err := strconv.Atoi(f[0])
	if len(f) != 3 || err != nil || pid <= 0 {
		return false
	}
	if f[1] == "" {
		return answers(pid)
	}
	p, ok := procs.Get(pid)
	return ok && !p.Zombie && f[2] == bootID() && f[1] == strconv.FormatUint(p.Start, 10)
}

// answers asks where a pid's start time cannot be known; a process that got the
// pid later is mistaken for the first, so an app is rather left alone.
func answers(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" {
		return true // FindProcess opened it
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
