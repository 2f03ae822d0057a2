package cgroup

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Group is a control group of either version that is read, not changed: the folders of what it
// counts, which differ in version 1. A folder that is "" is unknown.
type Group struct {
	Memory, CPU, IO, PIDs string
	V1                    bool
}

// Usage is what the processes of a group use. Unknown values are nil.
type Usage struct {
	Memory        *int64 // bytes, without file pages that are not in use
	Peak          *int64 // of the memory since the group exists, with file pages
	CPU           *time.Duration
	Read, Written *int64 // bytes, of block devices
	Threads       *int
}

// Of returns a group of version 2 by its folder.
func Of(dir string) Group { return Group{Memory: dir, CPU: dir, IO: dir, PIDs: dir} }

// Peak returns the largest memory of a group of version 2 in bytes, 0 if it is not known (before
// Linux 5.19, or without the memory controller).
func Peak(dir string) int64 {
	if n := number(dir, "memory.peak"); n != nil {
		return *n
	}
	return 0
}

// Find returns the group of a process whose path contains a name, such as a container's ID. ok is
// false if this process cannot see it.
func Find(pid int, name string) (g Group, ok bool) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return g, false
	}
	groups, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return g, false
	}
	return find(string(mounts), string(groups), name)
}

// find parses the two files as in proc(5).
func find(mounts, groups, name string) (g Group, ok bool) {
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if !strings.Contains(filepath.Base(path), name) {
			continue
		}
		if controllers == "" {
			if dir := mounted(mounts, "cgroup2", "", path); dir != "" && g == (Group{}) {
				g = Of(dir)
			}
			continue
		}
		for c := range strings.SplitSeq(controllers, ",") {
			dir := mounted(mounts, "cgroup", c, path)
			target := map[string]*string{"memory": &g.Memory, "cpuacct": &g.CPU, "blkio": &g.IO, "pids": &g.PIDs}[c]
			if target == nil || dir == "" {
				continue
			}
			if !g.V1 {
				g = Group{V1: true} // the unified hierarchy has no controllers beside this one
			}
			*target = dir
		}
	}
	return g, g != Group{}
}

// mounted returns the folder of a group below a mount point, "" if it is not mounted.
func mounted(mounts, kind, controller, path string) string {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		fields, options := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(options) < 3 || options[0] != kind {
			continue
		}
		if controller != "" && !strings.Contains(","+options[2]+",", ","+controller+",") {
			continue
		}
		if rel, err := filepath.Rel(fields[3], path); err == nil && rel != ".." &&
			!strings.HasPrefix(rel, "../") {
			return filepath.Join(fields[4], rel)
		}
	}
	return ""
}

// CPUTime reads the CPU time of a group; nil if it is unknown.
func (g Group) CPUTime() *time.Duration {
	n, unit := field(g.CPU, "cpu.stat", "usage_usec"), time.Microsecond
	if g.V1 {
		n, unit = number(g.CPU, "cpuacct.usage"), time.Nanosecond
	}
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * unit
	return &d
}

// Usage reads what a group uses.
func (g Group) Usage() (u Usage) {
	u.CPU = g.CPUTime()
	if g.V1 {
		u.Memory, u.Peak = number(g.Memory, "memory.usage_in_bytes"), number(g.Memory,
			"memory.max_usage_in_bytes")
		u.Memory = minus(u.Memory, field(g.Memory, "memory.stat", "total_inactive_file"))
		u.Read, u.Written = sumFields(g.IO, "blkio.throttle.io_service_bytes_recursive", "Read"), sumFields(g.IO, "blkio.throttle.io_service_bytes_recursive", "Write")
	} else {
		u.Memory, u.Peak = number(g.Memory, "memory.current"), number(g.Memory, "memory.peak")
		u.Memory = minus(u.Memory, field(g.Memory, "memory.stat", "inactive_file"))
		u.Read, u.Written = sumFields(g.IO, "io.stat", "rbytes"), sumFields(g.IO,
			"io.stat", "wbytes")
	}
	if n := number(g.PIDs, "pids.current"); n != nil {
		threads := int(*n)
		u.Threads = &threads
	}
	return u
}

// Processes returns the processes of a group, without those of groups below it.
func (g Group) Processes() []int {
	for _, dir := range []string{g.PIDs, g.Memory, g.CPU} {
		if dir != "" {
			return Processes(dir)
		}
	}
	return nil
}

func minus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return a
	}
	n := max(0, *a-*b)
	return &n
}

func read(dir, name string) []byte {
	if dir == "" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return data
}

// number returns the number that is the content of a file.
func number(dir, name string) *int64 { return parseNumber(read(dir, name)) }

func parseNumber(text []byte) *int64 {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// field returns the number after a name in a file of lines "name number".
func field(dir, name, key string) *int64 {
	for line := range bytes.Lines(read(dir, name)) {
		if rest, ok := bytes.CutPrefix(line, []byte(key+" ")); ok {
			return parseNumber(rest)
		}
	}
	return nil
}

// sumFields adds up the numbers that a file has for a key and each device: "8:0 rbytes=1
// wbytes=2" in version 2, "8:0 Read 1" in version 1. A file without devices has 0.
func sumFields(dir, name, key string) *int64 {
	data := read(dir, name)
	if data == nil {
		return nil
	}
	var total int64
	words := bytes.FieldsFunc(data, func(r rune) bool { return r == ' ' || r == '\n' || r == '=' })
	for i := 0; i+1 < len(words); i++ {
		if string(words[i]) == key {
			if n := parseNumber(words[i+1]); n != nil {
				total += *n
			}
		}
	}
	return &total
}
