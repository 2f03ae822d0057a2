package procs

import (
	"bytes"
	"os"
	"strconv"
)

const (
	pfExiting = 0x4 // PF_EXITING of the kernel's task flags
	sigkill   = 9
)

// Dying reports whether a process is on its way out: killed, but not yet rid of its
// files and locks. That takes a moment, more with many threads.
func Dying(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	end := bytes.LastIndexByte(stat, ')')
	if err != nil || end < 0 {
		return true
	}
	f := bytes.Fields(stat[end+1:])
	const state, flags = 0, 6 // fields 3 and 9 of proc(5)
	if len(f) <= flags || f[state][0] == 'Z' || f[state][0] == 'X' {
		return true
	}
	if n, err := strconv.ParseUint(string(f[flags]), 10, 64); err == nil && n&pfExiting != 0 {
		return true
	}
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return true
	}
	return pending(status, "SigPnd:", sigkill) || pending(status, "ShdPnd:", sigkill)
}

// pending looks a signal up in one of the masks of /proc/PID/status.
func pending(status []byte, mask string, signal int) bool {
	_, rest, ok := bytes.Cut(status, []byte("\n"+mask))
	if !ok {
		return false
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	bits, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
	return err == nil && bits&(1<<(signal-1)) != 0
}
