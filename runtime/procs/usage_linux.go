package procs

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// tick is the unit of times in /proc/PID/stat: the kernel shows every program 100
// a second, whatever its own clock (USER_HZ, proc(5)).
const tick = time.Second / 100

func samples() []sample {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read so far is as good as it gets
	page := int64(os.Getpagesize())
	var all []sample
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		data, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		if s, ok := parseSample(data, page); ok {
			all = append(all, s)
		}
	}
	return all
}

// parseSample reads /proc/PID/stat.
func parseSample(data []byte, page int64) (s sample, ok bool) {
	space, end := bytes.IndexByte(data, ' '), bytes.LastIndexByte(data, ')')
	if space < 0 || end < 0 {
		return s, false
	}
	f := bytes.Fields(data[end+1:])
	// Fields 4, 6, 14 to 17 and 24 of proc(5); the first here is 3.
	const ppid, session, utime, cstime, rss = 1, 3, 11, 14, 21
	if len(f) <= rss {
		return s, false
	}
	number := func(text []byte) int64 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		ok = ok && err == nil
		return n
	}
	ok = true
	s.pid, s.parent, s.session = int(number(data[:space])), int(number(f[ppid])), int(number(f[session]))
	for i := utime; i <= cstime; i++ {
		s.usage.CPU += time.Duration(number(f[i])) * tick
	}
	s.usage.RSS = number(f[rss]) * page
	return s, ok
}
