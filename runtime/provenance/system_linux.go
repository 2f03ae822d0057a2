package provenance

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxMemory bounds the address space of a git process in bytes.
const maxMemory = 2 << 30

// limitMemory limits a process that was just started; it fails only if that has ended.
func limitMemory(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}, nil)
}

// low is the priority of a process that leaves the processors to others, see setpriority(2), but
// ends soon on a busy machine, too: readers wait for it.
const low = 10

// Yield gives a process that was just started, and leads a session, a low priority.
func Yield(pid int) {
	_ = unix.Setpriority(unix.PRIO_PROCESS, pid, low)
	// Sessions share the processors equally, whatever the priority of their processes: sched(7).
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/autogroup", []byte(strconv.Itoa(low)), 0)
}
