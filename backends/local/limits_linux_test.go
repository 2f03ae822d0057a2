package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/cgroup"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

func limitedRole(memMB int, cpu float64, script string) spec.Role {
	r := sh("a", 1, script)
	r.Resource.MemMB, r.Resource.CPU = memMB, cpu
	return r
}

// A replica that allocates more memory than its limit fails.
func TestMemoryRlimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const take = `ulimit -d; x=$(head -c 100000000 /dev/zero | tr '\0' x); echo ${#x}`
	id, s := f.run(backend.Config{"limits": limitsRlimit}, limitedRole(64, -1, take))
	if s.State != spec.Failed {
		t.Errorf("state %s", s.State)
	}
	if got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{Stream: backend.Stdout}); got != "65536\n" {
		t.Errorf("it printed %q", got)
	}
	id, s = f.run(backend.Config{"limits": limitsRlimit}, limitedRole(2048, -1, take))
	f.expect(s, spec.Succeeded, 0)
	if got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{Stream: backend.Stdout}); got != "2097152\n100000000\n" {
		t.Errorf("it printed %q", got)
	}
}

// Limits do not change the arguments, name, exit code or session of a replica.
func TestRlimitChangesNothingElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	role := limitedRole(64, -1, `echo "$0 $1"; read pid name state parent group session rest </proc/$$/stat; test "$pid" = "$session" && echo leader; exit 7`)
	role.Args = append(role.Args, "zero", "one two")
	id, s := f.run(backend.Config{"limits": limitsRlimit}, role)
	f.expect(s, spec.Failed, 7)
	if got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{}); got != "zero one two\nleader\n" {
		t.Errorf("it printed %q", got)
	}
}

func TestLimitWarnings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	parent := f.TempDir()
	for name, text := range map[string]string{"cgroup.controllers": "memory", "cgroup.subtree_control": "memory", "cgroup.procs": ""} {
		if err := os.WriteFile(filepath.Join(parent, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		cfg  backend.Config
		mem  int
		cpu  float64
		want string
	}{
		{nil, 64, 1, ""},
		{backend.Config{"limits": "none"}, 64, 1, ""},
		{backend.Config{"limits": "auto"}, -1, -1, "limits: no role sets memMB or cpu, nothing is limited"},
		{backend.Config{"limits": "rlimit"}, 64, -1, "limits: memMB by rlimit, for each process of a replica, not for all of them together"},
		{backend.Config{"limits": "rlimit"}, 64, 2, "limits: memMB by rlimit, for each process of a replica, not for all of them together; cpu is not limited"},
		{backend.Config{"limits": "auto", "cgroup_parent": parent}, 64, 2, "limits: memMB of each replica by cgroup " + parent + "; cpu is not limited"},
		{backend.Config{"limits": "auto", "cgroup_parent": "/nowhere"}, 64, -1, "limits: memMB by rlimit, for each process of a replica, not for all of them together (/nowhere is not a cgroup v2: no such file or directory)"},
	}
	for _, test := range tests {
		p := f.plan(test.cfg, limitedRole(test.mem, test.cpu, "true"))
		if got := strings.Join(p.Warnings, "\n"); got != test.want {
			t.Errorf("%v: %q, want %q", test.cfg, got, test.want)
		}
	}
	for want, cfg := range map[string]backend.Config{
		"limits=cgroup: /nowhere is not a cgroup v2": {"limits": "cgroup", "cgroup_parent": "/nowhere"},
		"limits=much: must be":                       {"limits": "much"},
		"cgroup_parent=here: must be an absolute":    {"cgroup_parent": "here"},
	} {
		_, err := f.b.Plan(f.ctx, backend.PlanInput{ID: "x", App: &spec.App{Roles: []spec.Role{limitedRole(1, 1, "true")}}, Cfg: cfg, Cwd: parent})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", cfg, err, want)
		}
	}
}

// A replica starts in its own control group, which is removed after it. After the agent
// was killed, all processes in the group are killed, even if they tried to hide.
func TestReplicasHaveGroups(t *testing.T) {
	t.Parallel()
	parent := cgroupParent(t)
	f := newFixture(t)
	cfg := backend.Config{"limits": limitsCgroup, "cgroup_parent": parent}
	id, s := f.run(cfg, sh("a", 2, "grep ^0:: /proc/self/cgroup; setsid sleep 600 &"))
	f.expect(s, spec.Succeeded, 0)
	for n := range 2 {
		if got := f.log(id, spec.Replica{Role: "a", ID: n}, backend.LogOptions{}); !strings.HasSuffix(got, "/torchx-"+id+"/a-"+string(rune('0'+n))+"-0\n") {
			t.Errorf("replica %d: got cgroup %q", n, got)
		}
	}
	if left, _ := filepath.Glob(parent + "/torchx-*"); len(left) > 0 {
		t.Errorf("groups are left: %v", left)
	}

	id = f.submit(cfg, sh("a", 1, "env -i setsid -f sleep 600; exec sleep 600"))
	group := filepath.Join(parent, "torchx-"+id, "a-0-0")
	f.waitFor("two processes in "+group, func() bool { return len(cgroup.Processes(group)) == 2 })
	pids := cgroup.Processes(group)
	f.killAgent(id)
	s, err := f.b.Describe(f.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	f.expect(s, spec.Failed, 125)
	for _, pid := range pids {
		if p, ok := procs.Get(pid); ok && !p.Zombie {
			t.Errorf("process %d is left", pid)
		}
	}
	if _, err := os.Stat(filepath.Dir(group)); !os.IsNotExist(err) {
		t.Errorf("the app's groups: %v", err)
	}
}

// Without limits an app has one control group. By it, the next command finds a daemon that
// left its session, environment and output. Without a group it warns that it may miss one.
func TestDaemonsOfDeadAgent(t *testing.T) {
	t.Parallel()
	const daemon = "env -i setsid sleep 600 </dev/null >/dev/null 2>&1 & exec sleep 600"
	f := newFixture(t)
	for _, test := range []struct {
		parent, want string
		ended        bool
	}{
		{cgroupParent(t), "; its processes were killed", true},
		{"/nowhere", "; the processes found were killed; without a cgroup, a process that left its session may still run", false},
	} {
		cfg := backend.Config{"cgroup_parent": test.parent}
		marker := filepath.Join(f.TempDir(), "again")
		role := sh("a", 1, "[ -e \""+marker+"\" ] || { : > \""+marker+"\"; exit 3; }; "+daemon)
		role.MaxRetries = 1
		id := f.submit(cfg, role)
		var pids []int
		f.waitFor("a replica with a daemon", func() bool {
			pids = nil
			for _, p := range procs.Descendants(f.agentPID(id)) {
				if args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID)); strings.HasPrefix(string(args), "sleep\x00") {
					pids = append(pids, p.PID)
				}
			}
			return len(pids) == 2
		})
		f.killAgent(id)
		s, err := f.b.Describe(f.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		f.expect(s, spec.Failed, 125)
		if !strings.HasSuffix(s.Msg, test.want) {
			t.Errorf("%s: got %q, want %q", test.parent, s.Msg, test.want)
		}
		left := 0
		for _, pid := range pids {
			if p, ok := procs.Get(pid); ok && !p.Zombie {
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if (left == 0) != test.ended {
			t.Errorf("%s: %d processes are left", test.parent, left)
		}
		if groups, _ := filepath.Glob(test.parent + "/torchx-*"); len(groups) > 0 {
			t.Errorf("groups are left: %v", groups)
		}
	}
}

func cgroupParent(t *testing.T) string {
	t.Helper()
	dir, err := cgroup.Self()
	if err == nil {
		dir, err = os.MkdirTemp(dir, "test-local-")
	}
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "cgroup") {
			t.Fatal(err)
		}
		t.Skipf("no writable cgroup v2; TORCHX_REQUIRE=cgroup makes this a failure: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
