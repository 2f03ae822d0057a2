package procs

import (
	"bytes"
	"os"
	"strconv"
)

// List returns every process.
func List() []Process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read so far is as good as it gets
	var all []Process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := Get(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// Get returns the process of that pid, if there is one.
func Get(pid int) (Process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// pid (name) state ppid pgrp session …; the name may hold anything, ')' too.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return Process{}, false
	}
	f := bytes.Fields(data[end+1:])
	const state, ppid, session, start = 0, 1, 3, 19 // fields 3, 4, 6 and 22 of proc(5)
	if len(f) <= start {
		return Process{}, false
	}
	p := Process{PID: pid, Zombie: f[state][0] == 'Z' || f[state][0] == 'X'}
	p.Parent, _ = strconv.Atoi(string(f[ppid]))
	p.Session, _ = strconv.Atoi(string(f[session]))
	p.Start, err = strconv.ParseUint(string(f[start]), 10, 64)
	return p, err == nil
}

// HasOpen reports whether a process has a file open whose name in /proc/PID/fd (such
// as "pipe:[4711]") matches.
func HasOpen(pid int, match func(file string) bool) bool {
	folder := "/proc/" + strconv.Itoa(pid) + "/fd"
	dir, err := os.Open(folder)
	if err != nil {
		return false // it is somebody else's, or gone
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // as in List
	for _, name := range names {
		if file, err := os.Readlink(folder + "/" + name); err == nil && match(file) {
			return true
		}
	}
	return false
}

// HasEnv reports whether a process began with that variable ("K=V") in its environment.
func HasEnv(pid int, entry string) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
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
