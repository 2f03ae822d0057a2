package cgroup

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// realParent creates a parent in the real cgroup file system, or skips the test.
func realParent(t *testing.T) Parent {
	t.Helper()
	dir, err := Self()
	if err == nil {
		dir, err = os.MkdirTemp(dir, "test-torchx-")
	}
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "cgroup") {
			t.Fatal(err)
		}
		t.Skipf("no writable cgroup v2; TORCHX_REQUIRE=cgroup makes this a failure: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEndKillsTheGroup(t *testing.T) {
	t.Parallel()
	app, err := realParent(t).App("x")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Create(app, "a-0-0", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	cmd := exec.Command("sh", "-c", "setsid sleep 600 & setsid sleep 600 & echo; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1)) // both have started, or the next check fails
	for deadline := time.Now().Add(time.Minute); len(Processes(dir)) != 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got processes %v, want 3", Processes(dir))
		}
	}
	if err := Remove(dir); err == nil {
		t.Error("a group with processes: got nil, want an error")
	}
	if err := End(dir); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("got success of the process, want it killed")
	}
	if _, err := os.Stat(app); !os.IsNotExist(err) {
		t.Errorf("app's folder: got %v, want it removed", err)
	}
	if err := End(dir); err != nil {
		t.Errorf("second End: got %v, want nil", err)
	}
}

func TestSelf(t *testing.T) {
	t.Parallel()
	const unified = "36 25 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	const hybrid = "40 30 0:20 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 30 0:21 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	const inner = "50 40 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	tests := []struct{ name, mounts, groups, want string }{
		{"unified", unified, "0::/user.slice/user-1000.slice/x.scope\n", "/sys/fs/cgroup/user.slice/user-1000.slice/x.scope"},
		{"hybrid", hybrid, "4:memory:/a\n0::/\n", "/sys/fs/cgroup/unified"},
		{"below the mount", inner, "0::/docker/abc/sub\n", "/sys/fs/cgroup/sub"},
		{"outside the mount", inner, "0::/other\n", ""},
		{"only version 1", "40 30 0:20 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/a\n", ""},
	}
	for _, test := range tests {
		got, err := parseSelf(test.mounts, test.groups)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
	}
	if dir, err := Self(); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
			t.Error(err)
		}
	}
}
