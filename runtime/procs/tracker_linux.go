package procs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
)

// pageSize is the unit of memory in /proc/PID/stat.
var pageSize = int64(os.Getpagesize())

// slurp returns the content of a file, nil if it cannot be read.
func slurp(name string, buffer []byte) []byte {
	data, err := slurpFile(name, buffer)
	if err != nil {
		return nil
	}
	return data
}

// slurpFile reads a file of /proc with one call, which is enough for the ones used here, into
// buffer.
func slurpFile(name string, buffer []byte) ([]byte, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, buffer)
		if err == syscall.EINTR {
			continue
		}
		return buffer[:max(0, n)], err
	}
}

func (t *Tracker) read(pid int) (sample, bool) {
	return parseSample(slurp(procPath(pid, "stat"), t.buffer), pageSize)
}

// newestPID returns the number that the system gave to a process or thread last, 0 if it is not
// known.
func newestPID(buffer []byte) int {
	f := bytes.Fields(slurp("/proc/loadavg", buffer))
	if len(f) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(f[len(f)-1]))
	return n
}

// listPIDs returns all processes.
func listPIDs() []int {
	var all []int
	for _, name := range listFolder("/proc") {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

func exists(pid int) bool {
	_, ok := Get(pid)
	return ok
}

// readPSS returns the proportional set size of a process: each page divided by the processes that
// map it; 0 if it is ending. mayRead is false if this process may not know, or the kernel does
// not tell.
func readPSS(pid int, buffer []byte) (bytes int64, mayRead bool) {
	data, err := slurpFile(procPath(pid, "smaps_rollup"), buffer)
	switch {
	case err == nil:
		kb, _ := amount(data, "Pss:")
		return kb << 10, true
	case errors.Is(err, fs.ErrPermission):
		return 0, false
	case errors.Is(err, fs.ErrNotExist):
		return 0, !exists(pid) // before Linux 4.14
	}
	return 0, true
}

// readIO returns what a process has read and written.
func readIO(pid int, buffer []byte) (io IO, ok bool) {
	data := slurp(procPath(pid, "io"), buffer)
	var okWritten bool
	io.Read, ok = amount(data, "rchar:")
	io.Written, okWritten = amount(data, "wchar:")
	return io, ok && okWritten
}

// amount returns the number after a name at the start of a line.
func amount(data []byte, name string) (int64, bool) {
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// tick is the unit of times in /proc/PID/stat: the kernel reports 100 per second to every program,
// regardless of its internal clock (USER_HZ, proc(5)).
const tick = time.Second / 100

// parseSample parses /proc/PID/stat.
func parseSample(data []byte, page int64) (s sample, ok bool) {
	pid, _, ok := bytes.Cut(data, []byte(" "))
	f := parseStat(data)
	if !ok || len(f) <= fieldRSS {
		return s, false
	}
	number := func(text []byte) int64 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		ok = ok && err == nil
		return n
	}
	s.pid, s.parent, s.session = int(number(pid)), int(number(f[fieldParent])), int(number(f[fieldSession]))
	for i := fieldUtime; i <= fieldCstime; i++ {
		s.usage.CPU += time.Duration(number(f[i])) * tick
	}
	s.usage.RSS = number(f[fieldRSS]) * page
	s.threads, s.start, s.zombie = int(number(f[fieldThreads])), uint64(number(f[fieldStart])), hasEnded(f)
	return s, ok
}
