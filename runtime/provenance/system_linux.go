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

// lowest is the priority of a process that leaves the processors to others, see setpriority(2).
const lowest = 19

// Yield gives a process that was just started, and leads a session, the lowest priority.
func Yield(pid int) {
	_ = unix.Setpriority(unix.PRIO_PROCESS, pid, lowest)
	// Sessions share the processors equally, whatever the priority of their processes: sched(7).
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/autogroup", []byte(strconv.Itoa(lowest)), 0)
}
