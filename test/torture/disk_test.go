//go:build linux

package torture

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"torchx/runtime/spec"
)

// smallDisk mounts a separate file system at the home. It needs root.
func (h *home) smallDisk(size string) {
	h.Helper()
	err := unix.Mount("tmpfs", h.dir, "tmpfs", 0, "size="+size)
	required := slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "root")
	if errors.Is(err, unix.EPERM) && !required {
		h.Skip("only root can mount a small tmpfs; TORCHX_REQUIRE=root makes this a failure")
	}
	if err != nil {
		h.Fatalf("mount a small tmpfs: %v", err)
	}
	h.Cleanup(func() {
		h.endAll()
		if err := unix.Unmount(h.dir, unix.MNT_DETACH); err != nil {
			h.Error(err)
		}
	})
}

// fill fills the disk to the last block.
func (h *home) fill() (free func()) {
	h.Helper()
	path := filepath.Join(h.dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		h.Fatal(err)
	}
	defer f.Close()
	for _, block := range [][]byte{make([]byte, 1<<16), make([]byte, 1<<12)} {
		for err = nil; err == nil; {
			_, err = f.Write(block)
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			h.Error(err)
		}
	}
}

// If the disk fills up while an app runs, log lines are lost, but not the result.
func TestDiskFillsUp(t *testing.T) {
	t.Parallel()
	for script, code := range map[string]int{"exit 0": 0, "exit 9": 9} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.smallDisk("8m")
			started := h.torchx("", "run", "-d", h.file, "--num_replicas", "2",
				"--script", "until test -e full; do sleep 0.01; done; seq 100000; "+script)
			handle := strings.TrimSpace(started.stdout) // "-" needs the history, which may have no space
			free := h.fill()
			if err := os.WriteFile(filepath.Join(h.scratch, "full"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if r := h.torchx("", "wait", handle); r.code != code {
				t.Errorf("wait: exit %d, want %d\n%s", r.code, code, r.stderr)
			}
			h.waitForAgents()
			free()
			if a := h.onlyApp(); (a.State == spec.Succeeded) != (code == 0) || a.ExitCode == nil || *a.ExitCode != code {
				t.Errorf("got %v, want exit code %d", a, code)
			}
		})
	}
}

// On a full disk that has no space for SQLite's -shm file, the history can be read.
func TestFullDiskIsReadable(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.smallDisk("4m")
	h.torchx("", "run", h.file, "--script", "exit 3")
	h.waitForAgents()
	db, err := sql.Open("sqlite", "file:"+h.historyFile())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := errors.Join(err, db.Close()); err != nil { // the last one to close removes -wal and -shm
		t.Fatal(err)
	}
	h.fill()
	if r := h.torchx("", "wait", "-"); r.code != 3 {
		t.Errorf("wait: exit %d, want 3\n%s", r.code, r.stderr)
	}
}

// On a full disk no app starts, and the error has one line.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.smallDisk("4m")
	h.torchx("", "run", h.file, "--script", "exit 0")
	free := h.fill()
	r := h.torchx("", "run", h.file, "--script", "exit 0")
	if r.code != 125 || !strings.Contains(r.stderr, "no space left") {
		t.Errorf("exit %d, want 125 and the reason:\n%s", r.code, r.stderr)
	}
	h.checkListed(r)
	if r := h.torchx("", "ui", "-d"); r.code == 0 || !strings.Contains(r.stderr, "no space left") {
		t.Errorf("ui -d: exit %d, want the reason:\n%s", r.code, r.stderr)
	}
	if apps := h.list(); len(apps) == 0 || !apps[len(apps)-1].is(spec.Succeeded, 0) {
		t.Errorf("list: got %v, want the first app", apps)
	}
	free()
	if r := h.torchx("", "run", h.file, "--script", "exit 3"); r.code != 3 {
		t.Errorf("after freeing space: exit %d\n%s", r.code, r.stderr)
	}
}

// An app does not start without enough space for its result, which would be lost.
func TestDiskIsNearlyFull(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.smallDisk("4m")
	h.torchx("", "run", h.file, "--script", "exit 0")
	h.fill()
	ballast := filepath.Join(h.dir, "ballast")
	full, err := os.Stat(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for _, free := range []int64{16, 32, 48, 64, 80, 96, 128, 160} {
		if err := os.Truncate(ballast, full.Size()-free<<10); err != nil {
			t.Fatal(err)
		}
		r := h.torchx("", "run", h.file, "--script", "touch ran; exit 3")
		_, err := os.Stat(filepath.Join(h.scratch, "ran"))
		switch ran := err == nil; {
		case ran && r.code != 3:
			t.Errorf("with %d KiB free the app ran: got exit %d, want 3\n%s", free, r.code, r.stderr)
		case !ran && (r.code != 125 || !strings.Contains(r.stderr, "no space left on device (free some space")):
			t.Errorf("with %d KiB free: exit %d, want 125 and a remedy\n%s", free, r.code, r.stderr)
		}
		h.checkListed(r)
		_ = os.Remove(filepath.Join(h.scratch, "ran"))
	}
}

// checkListed fails if a command printed the handle of an app that the list does not have.
func (h *home) checkListed(r result) {
	h.Helper()
	handle := strings.TrimSpace(r.stdout)
	if handle != "" && !slices.ContainsFunc(h.list(), func(a app) bool { return strings.HasSuffix(handle, "/"+a.AppID) }) {
		h.Errorf("%s was printed, but is not in the list", handle)
	}
}

// A home that became read-only can still be read, including the result of an app whose
// agent died. Its remaining processes are killed.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.smallDisk("8m")
	h.torchx("", "run", h.file, "--script", "exit 0")
	h.torchx("", "run", "-d", h.file, "--script", daemons)
	dead := h.list()[0]
	h.waitFile("daemon")
	h.killAgents()
	h.waitForAgents()
	h.waitFor("the end of all writes", func() bool {
		return unix.Mount("", h.dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "") == nil
	})
	writable := func() {
		if err := unix.Mount("", h.dir, "", unix.MS_REMOUNT, ""); err != nil {
			t.Error(err)
		}
	}
	defer writable()
	if s := h.torchx("", "status", dead.AppID); s.code != 0 || !strings.Contains(s.stdout, "agent died") {
		t.Errorf("status: exit %d\n%s%s", s.code, s.stdout, s.stderr)
	}
	h.checkNoProcesses(dead)
	if apps := h.list(); len(apps) != 2 || !apps[1].is(spec.Succeeded, 0) || !apps[0].is(spec.Failed, 125) {
		t.Errorf("list: %v", apps)
	}
	if r := h.torchx("", "run", h.file, "--script", "exit 0"); r.code != 125 || !strings.Contains(r.stderr, "read-only") {
		t.Errorf("run: exit %d, want 125 and the reason:\n%s", r.code, r.stderr)
	}
}
