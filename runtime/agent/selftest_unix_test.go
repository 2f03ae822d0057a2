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
		"/bin/echo":                "not that of torchx",
		script:                     "exit status 3: no such thing",
	} {
		found, err := StartSelfTest(t.Context(), exe)
		if err == nil || found != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v", exe, found, err)
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
		t.Errorf("it left %v, %v", left, err)
	}
	if err := CheckLocks(filepath.Join(dir, "gone")); err == nil {
		t.Error("locks work in a folder that is not there")
	}
}

func TestDead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if dead, err := Dead(home); err != nil || dead != nil {
		t.Errorf("an empty home: %v, %v", dead, err)
	}
	b, lock, err := Create(&Manifest{Version: 1, ID: "a", Home: home, App: &spec.App{Name: "a", Roles: []spec.Role{spec.NewRole("r", "i")}}})
	if err != nil {
		t.Fatal(err)
	}
	if dead, err := Dead(home); err != nil || dead != nil {
		t.Errorf("a live app: %v, %v", dead, err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	for b.Held() { // by a child of another test, between its fork and its exec
		runtime.Gosched()
	}
	if dead, err := Dead(home); err != nil || len(dead) != 1 || dead[0] != filepath.Base(b.Dir) {
		t.Errorf("a dead app: %v, %v", dead, err)
	}
}
