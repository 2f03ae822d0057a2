// Package homedir makes the folders of tests that processes other than the test write
// to: an agent closes files, and may make folders, after the app it ran has ended, which
// the folders of testing.T do not wait for.
package homedir

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "torchx/test/cleanenv" // for all that run torchx
)

const (
	patience = 60 * time.Second
	interval = 10 * time.Millisecond
)

// New returns a new folder with a short name, as sockets need. When the test has ended, it
// waits for the processes whose arguments name the folder, and removes it.
func New(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "torchx-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		deadline := time.Now().Add(patience)
		for ; time.Now().Before(deadline); time.Sleep(interval) {
			if users(dir) == "" && os.RemoveAll(dir) == nil {
				return
			}
		}
		t.Errorf("remove %s: %v; in use by %s", dir, os.RemoveAll(dir), users(dir))
	})
	return dir
}

// Public returns a new folder that other users of the machine can enter, or "" if none is possible
// here: TMPDIR may lie in a folder that only its owner can enter.
func Public(t testing.TB) string {
	t.Helper()
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if !enterable(parent) {
			continue
		}
		dir, err := os.MkdirTemp(parent, "torchx-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	return ""
}

// enterable reports whether every user can enter a folder.
func enterable(path string) bool {
	path, err := filepath.EvalSymlinks(path)
	for ; err == nil; path = filepath.Dir(path) {
		var info os.FileInfo
		if info, err = os.Stat(path); err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if path == filepath.Dir(path) {
			return true
		}
	}
	return false
}

// users returns the arguments of the processes that name the folder in them, where the
// system has /proc.
func users(dir string) string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []byte
	for _, file := range files {
		if args, err := os.ReadFile(file); err == nil && bytes.Contains(args, []byte(dir)) {
			found = append(append(found, bytes.ReplaceAll(args, []byte{0}, []byte{' '})...), '\n')
		}
	}
	return string(found)
}
