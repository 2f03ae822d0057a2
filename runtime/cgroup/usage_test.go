package cgroup

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// folder creates a control group's files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestUsage(t *testing.T) {
	t.Parallel()
	two := folder(t, map[string]string{
		"memory.current": "1000\n", "memory.peak": "5000\n", "memory.stat": "anon 1\ninactive_file 300\n", "cpu.stat": "usage_usec 2500000\nuser_usec 1\n",
		"io.stat": "8:0 rbytes=10 wbytes=20 rios=1\n259:0 rbytes=1 wbytes=2\n", "pids.current": "7\n", "cgroup.procs": "12\n13\n",
	})
	one := folder(t, map[string]string{
		"memory.usage_in_bytes": "1000\n", "memory.max_usage_in_bytes": "5000\n", "memory.stat": "cache 1\ntotal_inactive_file 300\n",
		"cpuacct.usage": "2500000000\n", "blkio.throttle.io_service_bytes_recursive": "8:0 Read 11\n8:0 Write 22\n8:0 Total 33\nTotal 33\n",
		"pids.current": "7\n", "cgroup.procs": "12\n13\n",
	})
	groups := map[string]Group{"version 1": {Memory: one, CPU: one, IO: one, PIDs: one, V1: true}, "version 2": Of(two)}
	for name, g := range groups {
		u := g.Usage()
		if *u.Memory != 700 || *u.Peak != 5000 || *u.CPU != 2500*time.Millisecond || *u.Read != 11 || *u.Written != 22 || *u.Threads != 7 {
			t.Errorf("%s: got %+v", name, u)
		}
		if got := g.Processes(); len(got) != 2 || got[1] != 13 {
			t.Errorf("%s: got processes %v, want 12 and 13", name, got)
		}
	}
	if got := Peak(two); got != 5000 {
		t.Errorf("got a peak of %d, want 5000", got)
	}
	none := t.TempDir()
	if u := Of(none).Usage(); u != (Usage{}) || Peak(none) != 0 {
		t.Errorf("a group that is gone: got %+v", u)
	}
	broken := folder(t, map[string]string{"memory.current": "x\n", "cpu.stat": "usage_usec\n", "io.stat": "", "memory.peak": ""})
	if u := Of(broken).Usage(); u.Memory != nil || u.CPU != nil || *u.Read != 0 || u.Peak != nil {
		t.Errorf("broken files: got %+v", u)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const (
		v1 = "30 24 0:25 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n31 24 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
		v2 = "29 23 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	)
	for _, test := range []struct {
		name, mounts, groups string
		want                 Group
	}{
		{"version 2", v2, "0::/system.slice/docker-abc.scope\n", Of("/sys/fs/cgroup/system.slice/docker-abc.scope")},
		{"version 1", v1 + v2, "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/docker/abc\n", Group{Memory: "/sys/fs/cgroup/memory/docker/abc", CPU: "/sys/fs/cgroup/cpu,cpuacct/docker/abc", V1: true}},
		{"another group", v2, "0::/docker/def\n", Group{}},
		{"outside of the mount", "29 23 0:27 /inner /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/docker/abc\n", Group{}},
		{"nothing mounted", "", "0::/docker/abc\n", Group{}},
	} {
		if g, ok := find(test.mounts, test.groups, "abc"); g != test.want || ok != (test.want != Group{}) {
			t.Errorf("%s: got %+v, %v, want %+v", test.name, g, ok, test.want)
		}
	}
}
