package procs

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// tick is the unit of times in /proc/PID/stat: the kernel reports 100 per second to every program,
// regardless of its internal clock (USER_HZ, proc(5)).
const tick = time.Second / 100

func samples() []sample {
	page := int64(os.Getpagesize())
	var all []sample
	for _, name := range listFolder("/proc") {
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
