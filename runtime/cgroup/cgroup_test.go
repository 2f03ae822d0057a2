package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fill creates plain files in place of those of a cgroup folder, to check the texts that are written;
// it does not test the kernel's reaction.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSetWritesKernelFormat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		limits                 Limits
		memory, swap, oom, cpu string
	}{
		{Limits{Memory: 512 << 20, CPU: 1.5}, "536870912", "0", "1", "150000 100000"},
		{Limits{CPU: 0.001}, "max", "max", "0", "1000 100000"},
		{Limits{}, "max", "max", "0", "max 100000"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		fill(t, dir, map[string]string{"memory.max": "max", "memory.swap.max": "max", "memory.oom.group": "0", "cpu.max": "max 100000"})
		if err := test.limits.set(dir); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"memory.max": test.memory, "memory.swap.max": test.swap, "memory.oom.group": test.oom, "cpu.max": test.cpu,
		} {
			// A plain file keeps the rest of its old content; the kernel treats one write as one value.
			if got := content(t, dir, name); !strings.HasPrefix(got, want) {
				t.Errorf("%+v: %s: got %q, want %q", test.limits, name, got, want)
			}
		}
	}
}

func TestMissingControllerIsAnError(t *testing.T) {
	t.Parallel()
	app := filepath.Join(t.TempDir(), prefix+"app")
	fill(t, app, nil)
	if _, err := Create(app, "a-0-0", Limits{Memory: 1 << 20}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v, want fs.ErrNotExist", err)
	}
	if left, _ := os.ReadDir(app); len(left) != 0 {
		t.Errorf("got %d groups left, want none", len(left))
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		files    map[string]string
		enabled  string
		complain string
	}{
		{"both enabled", map[string]string{"cgroup.controllers": "cpu io memory", "cgroup.subtree_control": "cpu memory", "cgroup.procs": "1\n"}, "memory cpu", ""},
		{"to be enabled", map[string]string{"cgroup.controllers": "cpu memory", "cgroup.subtree_control": "", "cgroup.procs": ""}, "memory cpu", ""},
		{"one is missing", map[string]string{"cgroup.controllers": "memory", "cgroup.subtree_control": "memory", "cgroup.procs": ""}, "memory", ""},
		{"none", map[string]string{"cgroup.controllers": "hugetlb", "cgroup.subtree_control": "", "cgroup.procs": ""}, "", "has no memory or cpu controller"},
		{"other processes", map[string]string{"cgroup.controllers": "memory cpu", "cgroup.subtree_control": "", "cgroup.procs": "1\n"}, "", "contains other processes (such as 1)"},
		{"version 1", map[string]string{"cgroup.procs": ""}, "", "is not a cgroup v2"},
		{"not delegated", map[string]string{"cgroup.controllers": "memory"}, "", "is not delegated to this user"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fill(t, dir, test.files)
			p, err := Open(dir, "memory", "cpu")
			if test.complain != "" {
				if err == nil || !strings.Contains(err.Error(), test.complain) {
					t.Errorf("got error %v, want %q", err, test.complain)
				}
				return
			}
			if err != nil || strings.Join(p.Enabled, " ") != test.enabled {
				t.Errorf("got %v, %v, want %s", p, err, test.enabled)
			}
			if p.Has("memory") != strings.Contains(test.enabled, "memory") {
				t.Error("Has: got the opposite of Enabled")
			}
		})
	}
}

func TestOOMKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if n := OOMKills(dir); n != 0 {
		t.Errorf("without a file: got %d, want 0", n)
	}
	fill(t, dir, map[string]string{"memory.events": "low 0\nhigh 0\nmax 17\noom 2\noom_kill 3\noom_group_kill 1\n"})
	if n := OOMKills(dir); n != 3 {
		t.Errorf("got %d, want 3", n)
	}
}

func TestRemoveRejectsForeignGroups(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "precious", "x")
	fill(t, dir, nil)
	if err := Remove(dir); err == nil {
		t.Error("a foreign group: got nil, want an error")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
