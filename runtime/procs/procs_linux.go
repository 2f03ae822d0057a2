package procs

import (
	"bytes"
	"os"
	"strconv"
)

// Fields of /proc/PID/stat after the name, starting with field 3 of proc(5).
const (
	fieldState   = 0
	fieldParent  = 1
	fieldSession = 3
	fieldFlags   = 6
	fieldUtime   = 11
	fieldCstime  = 14
	fieldThreads = 17
	fieldStart   = 19
	fieldRSS     = 21
)

const (
	pfExiting = 0x4 // PF_EXITING of the kernel's task flags
	sigkill   = 9
)

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// listFolder returns the names in a folder; if an error occurs, those read before it.
func listFolder(folder string) []string {
	dir, err := os.Open(folder)
	if err != nil {
		return nil // it belongs to another user or is gone
	}
	defer dir.Close()
	all, _ := dir.Readdirnames(-1)
	return all
}

// readStat returns the fields of a process, nil if it has ended.
func readStat(pid int) [][]byte {
	data, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return nil
	}
	return parseStat(data)
}

// parseStat parses "pid (name) state ppid …"; the name may contain any character, even ')'.
func parseStat(data []byte) [][]byte {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return nil
	}
	return bytes.Fields(data[end+1:])
}

func hasEnded(fields [][]byte) bool {
	return fields[fieldState][0] == 'Z' || fields[fieldState][0] == 'X'
}

// List returns every process.
func List() []Process {
	var all []Process
	for _, name := range listFolder("/proc") {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := Get(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// Get returns the process with a pid, if it exists.
func Get(pid int) (Process, bool) {
	f := readStat(pid)
	if len(f) <= fieldStart {
		return Process{}, false
	}
	p := Process{PID: pid, Zombie: hasEnded(f)}
	p.Parent, _ = strconv.Atoi(string(f[fieldParent]))
	p.Session, _ = strconv.Atoi(string(f[fieldSession]))
	var err error
	p.Start, err = strconv.ParseUint(string(f[fieldStart]), 10, 64)
	return p, err == nil
}

// Dying reports whether a process was killed or is exiting, but may still have its files and locks.
// That takes a moment, longer with many threads.
func Dying(pid int) bool {
	f := readStat(pid)
	if len(f) <= fieldFlags || hasEnded(f) {
		return true
	}
	if n, err := strconv.ParseUint(string(f[fieldFlags]), 10, 64); err == nil && n&pfExiting != 0 {
		return true
	}
	status, err := os.ReadFile(procPath(pid, "status"))
	return err != nil || inMask(status, "SigPnd:", sigkill) || inMask(status, "ShdPnd:", sigkill)
}

// Ignores reports whether a process ignores a signal.
func Ignores(pid, signal int) bool {
	status, _ := os.ReadFile(procPath(pid, "status")) // a process that has ended ignores nothing
	return inMask(status, "SigIgn:", signal)
}

// User returns the real user ID of a process, -1 if it has ended.
func User(pid int) int {
	status, _ := os.ReadFile(procPath(pid, "status"))
	fields := bytes.Fields(statusLine(status, "Uid:"))
	if len(fields) == 0 {
		return -1
	}
	uid, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		return -1
	}
	return uid
}

// statusLine returns the value of a name in /proc/PID/status.
func statusLine(status []byte, name string) []byte {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return bytes.TrimSpace(line)
}

// inMask reports whether a mask of /proc/PID/status contains a signal.
func inMask(status []byte, mask string, signal int) bool {
	bits, err := strconv.ParseUint(string(statusLine(status, mask)), 16, 64)
	return err == nil && bits&(1<<(signal-1)) != 0
}

// HasOpen reports whether a process has an open file whose name in /proc/PID/fd (such as
// "pipe:[4711]") matches.
func HasOpen(pid int, match func(file string) bool) bool {
	folder := procPath(pid, "fd")
	for _, name := range listFolder(folder) {
		if file, err := os.Readlink(folder + "/" + name); err == nil && match(file) {
			return true
		}
	}
	return false
}

// HasFile reports whether a process has a file open.
func HasFile(pid int, file os.FileInfo) bool {
	folder := procPath(pid, "fd")
	for _, name := range listFolder(folder) {
		if open, err := os.Stat(folder + "/" + name); err == nil && os.SameFile(open, file) {
			return true
		}
	}
	return false
}

// Stopped reports whether a process was stopped, as by SIGSTOP.
func Stopped(pid int) bool {
	f := readStat(pid)
	return len(f) > fieldState && f[fieldState][0] == 'T'
}

// HasEnv reports whether a process was started with a variable ("K=V") in its environment.
func HasEnv(pid int, entry string) bool {
	data, err := os.ReadFile(procPath(pid, "environ"))
	if err != nil {
		return false
	}
	for e := range bytes.SplitSeq(data, []byte{0}) {
		if string(e) == entry {
			return true
		}
	}
	return false
}
