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
