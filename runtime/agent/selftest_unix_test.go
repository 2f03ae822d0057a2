//go:build unix

package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

func TestSelfTestOfAnotherProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "fails")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho no such thing >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for exe, want := range map[string]string{
		filepath.Join(dir, "gone"): "no such file",
		"/bin/echo":                "not from torchx",
		script:                     "exit status 3: no such thing",
	} {
		found, err := StartSelfTest(t.Context(), exe)
		if err == nil || found != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %+v, %v, want an error with %q", exe, found, err, want)
		}
	}
}

func TestSelfTestThatHangs(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "hangs")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec sleep 100\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := StartSelfTest(ctx, script); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestCheckLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := CheckLocks(dir); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v left behind, want nothing", left, err)
	}
	if err := CheckLocks(filepath.Join(dir, "gone")); err == nil {
		t.Error("a missing folder: got nil, want an error")
	}
}

func TestDeadApps(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if dead, err := DeadApps(home); err != nil || dead != nil {
		t.Errorf("an empty home: got %v, %v, want none", dead, err)
	}
	b, lock, err := Create(&Manifest{Version: 1, ID: "a", Home: home, App: &spec.App{Name: "a", Roles: []spec.Role{spec.NewRole("r", "i")}}})
	if err != nil {
		t.Fatal(err)
	}
	if dead, err := DeadApps(home); err != nil || dead != nil {
		t.Errorf("a live app: got %v, %v, want none", dead, err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	for b.Held() { // a child of another test inherits the lock between fork and exec
		runtime.Gosched()
	}
	if dead, err := DeadApps(home); err != nil || len(dead) != 1 || dead[0] != filepath.Base(b.Dir) {
		t.Errorf("a dead app: got %v, %v, want its folder", dead, err)
	}
}
