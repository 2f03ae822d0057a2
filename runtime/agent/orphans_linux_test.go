package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// deadBundle is an app of one replica whose agent died, with one line in starts.jsonl.
func deadBundle(t *testing.T, start startRecord) Bundle {
	t.Helper()
	m := &Manifest{
		Version: 1, ID: "x", Handle: "local://torchx/" + filepath.Base(t.TempDir()) + t.Name(), Home: t.TempDir(),
		App: &spec.App{Name: "x", Roles: []spec.Role{role("a", 1, nil)}}, SubmittedAt: time.Now(),
	}
	b, lock, err := Create(m)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(start)
	if err == nil {
		err = os.WriteFile(b.path(startsFile), append(line, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	releaseLock(t, b, lock)
	return b
}

// session starts a process that leads a session, as a replica does.
func session(t *testing.T) procs.Process {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have been killed by the test
		_ = cmd.Wait()
	})
	p, ok := procs.Get(cmd.Process.Pid)
	if !ok {
		t.Fatal("procs.Get: process not found")
	}
	return p
}

// A recorded pid identifies its process only together with the start time and the boot ID:
// a process that reuses the number is spared.
func TestRecoverIgnoresReusedPIDs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(r *startRecord)
		ended  bool
	}{
		{"the replica", func(*startRecord) {}, true},
		{"the number was given to another process", func(r *startRecord) { r.StartTime-- }, false},
		{"recorded before a reboot", func(r *startRecord) { r.BootID = "another boot" }, false},
		{"recorded without a boot id", func(r *startRecord) { r.BootID = "" }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := session(t)
			start := startRecord{Time: time.Now(), Role: "a", BootID: BootID(), Process: Process{PID: p.PID, StartTime: p.Start}}
			test.change(&start)
			b := deadBundle(t, start)
			if err := RecoverAll(b.home(), os.Args[0]); err != nil {
				t.Fatal(err)
			}
			s, err := b.Status()
			if err != nil || s.State != spec.Failed || *s.ExitCode != 125 {
				t.Errorf("got status %+v, %v, want FAILED with exit code 125", s, err)
			}
			q, exists := procs.Get(p.PID)
			if alive := exists && !q.Zombie; alive == test.ended {
				t.Errorf("process is alive: got %v, want %v", alive, !test.ended)
			}
			if _, err := os.Lstat(b.supervisor().Entry()); !os.IsNotExist(err) {
				t.Errorf("live entry: got %v, want it removed", err)
			}
		})
	}
}

// A damaged journal can name any process. This process, its ancestors and init are never
// taken for a replica's.
func TestSparedProcesses(t *testing.T) {
	t.Parallel()
	own := procs.Ancestors(os.Getpid())
	if len(own) < 2 {
		t.Fatalf("got %d processes, want this one and its parent", len(own))
	}
	stranger := session(t)
	record := func(pid int, start uint64) startRecord {
		return startRecord{BootID: BootID(), Process: Process{PID: pid, StartTime: start, Output: []string{"/dev/null", "pipe", ""}}}
	}
	starts := []startRecord{record(0, 1), record(-1, 1), record(1, 1), record(stranger.PID, 0), record(-stranger.PID, stranger.Start)}
	for _, p := range own {
		leader, _ := procs.Get(p.Session)
		starts = append(starts, record(p.PID, p.Start), record(p.Session, leader.Start), record(p.Session, 1))
	}
	app := newOrphans("local://torchx/x", starts)
	for _, p := range procs.List() {
		if app.owns(p) {
			t.Errorf("process %+v is taken for a replica's", p)
		}
	}
	if init, ok := procs.Get(1); ok && !app.isSpared(1) {
		t.Errorf("process %+v is not spared", init)
	}
	if app := newOrphans("local://torchx/x", []startRecord{record(stranger.PID, stranger.Start)}); !app.owns(stranger) {
		t.Errorf("the replica %+v is not found by its true record", stranger)
	}
}

// An agent's pid counts only if that process has the lock open.
func TestSignalReachesTheHolderOnly(t *testing.T) {
	t.Parallel()
	stranger := session(t)
	path := filepath.Join(t.TempDir(), lockFile)
	lock, err := filelock.TryAcquire(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for _, pid := range []int{stranger.PID, 0, -1, 1, -stranger.PID} {
		if err := os.WriteFile(path, holder{PID: pid}.encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := signalHolder(path, syscall.SIGKILL); err != nil {
			t.Errorf("pid %d: %v", pid, err)
		}
	}
	if procs.Dying(stranger.PID) {
		t.Error("a process that does not hold the lock was killed")
	}
}

// A process that left its session and changed its environment still writes to the
// replica's pipe.
func TestOrphansByOutput(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr, cmd.Stdout, cmd.Env = &syscall.SysProcAttr{Setsid: true}, write, []string{}
	err = cmd.Start()
	pipe, linkErr := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", write.Fd()))
	if err := errors.Join(err, linkErr, write.Close()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }() // if recovery did not
	p, _ := procs.Get(cmd.Process.Pid)
	stranger := session(t)
	b := deadBundle(t, startRecord{
		Time: time.Now(), Role: "a", BootID: BootID(), Process: Process{PID: 1 << 30, StartTime: p.Start, Output: []string{pipe}},
	})
	if err := RecoverAll(b.home(), os.Args[0]); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the process that writes to the pipe is alive, want it killed")
	}
	if q, exists := procs.Get(stranger.PID); !exists || q.Zombie {
		t.Error("an unrelated process was killed")
	}
}

// RecoverAll does not touch a live app, nor one that is being submitted without an agent yet.
func TestRecoverLeavesTheLivingAlone(t *testing.T) {
	t.Parallel()
	m := &Manifest{ID: "x", Handle: "local://torchx/x", Home: t.TempDir(), App: &spec.App{Roles: []spec.Role{role("a", 1, nil)}}}
	b, lock, err := Create(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := RecoverAll(m.Home, os.Args[0]); err != nil {
		t.Fatal(err)
	}
	if s, err := b.Status(); err != nil || s.State.Terminal() {
		t.Errorf("a live app was ended: %+v %v", s, err)
	}
	releaseLock(t, b, lock)
	if err := RecoverAll(m.Home, os.Args[0]); err != nil {
		t.Fatal(err)
	}
	if s, err := b.Status(); err != nil || s.State != spec.Failed {
		t.Errorf("a dead app was not ended: %+v %v", s, err)
	}
}

// The result does not change if the clock was set back between two records.
func TestReplayWithAClockSetBack(t *testing.T) {
	t.Parallel()
	m := &Manifest{ID: "x", App: &spec.App{Name: "x", Roles: []spec.Role{role("a", 2, nil)}}, Lifecycle: Lifecycle{FailFast: true}}
	first, second := ended(0, 0, 3), ended(1, 0, 4)
	first.Time, second.Time = at(7200), at(3600)
	s := replayResult(m, []startRecord{started(0, 0), started(1, 0)}, []exitRecord{first, second}, false, "")
	if s.State != spec.Failed || *s.ExitCode != 3 {
		t.Errorf("got %v %v, want FAILED with the first recorded exit code, 3", s.State, *s.ExitCode)
	}
}

// A record that was cut short by a full disk does not damage the next one.
func TestJournalGoesOnAfterACutRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), exitsFile)
	if err := os.WriteFile(path, []byte(`{"role":"a","co`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(path, true)
	if err != nil {
		t.Fatal(err)
	}
	j.cut = true
	if err := j.append(ended(1, 0, 4)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := readLines[exitRecord](path)
	if err != nil || len(all) != 1 || all[0].Code != 4 {
		t.Errorf("got %+v %v", all, err)
	}
}
