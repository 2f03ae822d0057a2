//go:build linux

package torture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"torchx/runtime/spec"
)

// noMappings is the argument with which the test binary runs a program that cannot create
// shared writable mappings of files, as on some file systems (9p, FUSE with direct_io,
// vboxsf). A WAL needs such mappings.
const noMappings = "no-mappings"

// runWithoutMappings executes a program with a seccomp filter: mmap of a file with
// MAP_SHARED fails with ENODEV for it and its children.
func runWithoutMappings(argv []string) {
	runtime.LockOSThread()
	err := forbidMappings()
	if err == nil {
		err = syscall.Exec(argv[0], argv, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "no-mappings:", err)
	os.Exit(99)
}

func forbidMappings() error {
	// Offsets in struct seccomp_data: the number of the call at 0, its arguments from 16,
	// 8 bytes each, low half first.
	const nr, flags, fd = 0, 16 + 3*8, 16 + 4*8
	load := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: k}
	}
	jump := func(op uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | op, K: k, Jt: yes, Jf: no}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	filter := []unix.SockFilter{
		load(nr),
		jump(unix.BPF_JEQ, unix.SYS_MMAP, 0, 5),
		load(flags),
		jump(unix.BPF_JSET, unix.MAP_SHARED, 0, 3),
		load(fd),
		jump(unix.BPF_JEQ, 0xffffffff, 1, 0),
		ret(unix.SECCOMP_RET_ERRNO | uint32(unix.ENODEV)),
		ret(unix.SECCOMP_RET_ALLOW),
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}

// withoutMappings runs a command without shared mappings and returns its exit code and stderr.
func (h *home) withoutMappings(args ...string) (int, string) {
	cmd := h.command("", args...)
	self := exec.Command(os.Args[0], append([]string{noMappings, cmd.Path}, args...)...)
	self.Dir, self.Env = cmd.Dir, cmd.Env
	var errs strings.Builder
	self.Stderr = &errs
	_ = self.Run() // the exit code is returned
	return self.ProcessState.ExitCode(), errs.String()
}

func (h *home) hasWAL() bool {
	_, err := os.Stat(h.historyFile() + "-wal")
	return !errors.Is(err, fs.ErrNotExist)
}

// If a WAL does not work, the history uses another journal, with a warning. Nothing is
// lost, also with concurrent commands.
func TestHomeWithoutWAL(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	code, stderr := h.withoutMappings("run", h.file, "--script", "exit 4")
	if code != 4 || strings.Count(stderr, "slower journal") != 1 {
		t.Errorf("exit %d, want 4 and a warning about the slower journal:\n%s", code, stderr)
	}
	if h.hasWAL() {
		t.Error("the history has a WAL")
	}
	const apps = 12
	var wg sync.WaitGroup
	for n := range apps {
		wg.Go(func() {
			code, stderr := h.withoutMappings("run", h.file, "--script", fmt.Sprintf("exit %d", n%3))
			if code != n%3 || strings.Contains(stderr, "locked") {
				t.Errorf("app %d: exit %d\n%s", n, code, stderr)
			}
		})
	}
	wg.Wait()
	h.waitForAgents()
	ended := 0
	for _, a := range h.list() { // by a command that can use a WAL
		if a.State.Terminal() && a.ExitCode != nil {
			ended++
		}
	}
	if ended != apps+1 {
		t.Errorf("got %d apps in the history, want %d", ended, apps+1)
	}
}

// A home with a WAL is moved to a file system where none works.
func TestHomeThatHadAWAL(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx("", "run", h.file, "--script", "exit 0")
	h.waitForAgents()
	code, stderr := h.withoutMappings("run", h.file, "--script", "exit 4")
	if code != 4 || strings.Count(stderr, "slower journal") != 1 {
		t.Errorf("exit %d, want 4 and a warning about the slower journal:\n%s", code, stderr)
	}
	h.waitForAgents()
	if apps := h.list(); len(apps) != 2 || !apps[0].is(spec.Failed, 4) || !apps[1].is(spec.Succeeded, 0) {
		t.Errorf("got apps %v in the history", apps)
	}
}
