package procs

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// start starts a shell in its own session and returns the lines that it prints. It ends with the test.
func start(t *testing.T, script string) (pid int, lines *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, bufio.NewScanner(out)
}

// await measures until a tree has a number of processes, which end with the test, in whatever session they are.
func await(t *testing.T, tracker *Tracker, r Root, processes int) Tree {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		tree := tracker.Measure([]Root{r})[r.PID]
		if len(tree.PIDs) == processes {
			t.Cleanup(func() {
				for _, p := range tree.PIDs {
					_ = syscall.Kill(p, syscall.SIGKILL)
				}
			})
			return tree
		}
		if time.Now().After(deadline) {
			t.Fatalf("got processes %v, want %d", tree.PIDs, processes)
		}
	}
}

func TestTracker(t *testing.T) {
	t.Parallel()
	pid, lines := start(t, `sleep 1000 & setsid sleep 1000 & echo ready; read x; `)
	root := Root{PID: pid}
	tracker := NewTracker(os.Getpid())
	lines.Scan()
	tree := await(t, tracker, root, 3)
	if tree.Memory < 100<<10 || tree.Memory > 1<<30 || tree.Threads != 3 || tree.IO == nil {
		t.Errorf("got %+v, want the memory, threads and counters of 3 processes", tree)
	}
	rss := int64(0)
	for _, p := range tree.PIDs {
		rss += Trees([]int{p})[p].RSS
	}
	if _, ok := readPSS(pid, make([]byte, 4096)); ok && (!tree.Once || tree.Memory >= rss) {
		t.Errorf("got %d bytes, once %v, want less than the RSS, %d", tree.Memory, tree.Once, rss)
	}
	if more := tracker.Measure(nil); len(more) > 0 {
		t.Errorf("got %v without a root, want nothing", more)
	}
	if tree := tracker.Measure([]Root{{PID: pid, Start: 1}})[pid]; len(tree.PIDs) > 0 {
		t.Errorf("another process with this number: got %+v, want nothing", tree)
	}
}

// TestTrackerOfOrphans follows processes whose parent has ended, also those that were never seen before.
func TestTrackerOfOrphans(t *testing.T) {
	t.Parallel()
	pid, lines := start(t, `(setsid sh -c 'echo up; sleep 1000; :' & sleep 1000; :) & read x`)
	lines.Scan()
	first := Root{PID: pid}
	tracker := NewTracker(os.Getpid())
	tree := await(t, tracker, first, 5)
	subshell := 0
	for _, p := range tree.PIDs {
		if found, _ := Get(p); found.Parent == pid {
			subshell = p // the only child of the first shell
		}
	}
	if err := syscall.Kill(subshell, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, tracker, first, 4) // the shell in its own session is known
}

func TestOrphanByPipe(t *testing.T) {
	t.Parallel()
	tracker := NewTracker(7)
	file, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	self := os.Getpid()
	tracker.trees[99] = &tree{Root: Root{PID: 99, Output: []string{"/dev/null"}}}
	tracker.trees[98] = &tree{Root: Root{PID: 98, Output: []string{"pipe:[1]"}}}
	if got := tracker.rootOf(&tracked{sample: sample{pid: self, parent: 7}}, nil); got != 99 {
		t.Errorf("an orphan with the file open: got root %d, want 99", got)
	}
	if got := tracker.rootOf(&tracked{sample: sample{pid: self, parent: 8}}, nil); got != 0 {
		t.Errorf("the child of another program: got root %d, want none", got)
	}
}

// TestCPUOfOrphans checks that the CPU time of a tree never goes back.
func TestCPUOfOrphans(t *testing.T) {
	t.Parallel()
	tracker, state, now := NewTracker(1), &tree{Root: Root{PID: 5}}, time.Now()
	one := &tracked{sample: sample{pid: 5, usage: Usage{CPU: time.Second}}, ioUnknown: true}
	two := &tracked{sample: sample{pid: 6, usage: Usage{CPU: 10 * time.Second}}, ioUnknown: true}
	for i, test := range []struct {
		all  []*tracked
		want time.Duration
	}{{[]*tracked{one, two}, 11 * time.Second}, {[]*tracked{one}, 11 * time.Second}, {[]*tracked{one}, 11 * time.Second}} {
		if got := tracker.sum(state, test.all, now); got.CPU != test.want || got.IO != nil {
			t.Errorf("step %d: got %v, %v, want %v and unknown counters", i, got.CPU, got.IO, test.want)
		}
	}
}
