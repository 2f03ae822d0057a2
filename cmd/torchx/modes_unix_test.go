//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesAreTheOwnersAlone: under any umask, only the owner can read the files of an app,
// and a secret is neither in a file that others can read nor in an argument of a process.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"000", "022", "277", "777"} {
		t.Run(umask, func(t *testing.T) {
			t.Parallel()
			dir := secretDir(t)
			home := filepath.Join(dir, "home")
			// torchx and its agent inherit the shell's umask; this process keeps its umask.
			script := "umask " + umask + `; exec torchx run s.star:sleeper`
			writeText(t, filepath.Join(dir, "s.star"), strings.ReplaceAll(secretComponent, `"true"`, `"sh"`)+`
def sleeper():
    return specs.AppDef(name = "s", roles = [specs.Role(name = "r", image = "i", entrypoint = "sh", env = {"HF_TOKEN": "sesame-env"},
        args = ["-c", "ps -e -o args= | grep torchx; for p in $PPID; do tr '\\0' ' ' < /proc/$p/cmdline; done"])])
`)
			cmd := exec.Command("sh", "-c", script)
			cmd.Dir = dir
			cmd.Env = []string{"TORCHX_HOME=" + home, "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if !strings.Contains(out.String(), "agent") || strings.Contains(out.String(), "sesame") {
				t.Errorf("arguments of processes: %s", out.String())
			}
			holding := checkModes(t, home)
			if holding["app.json"] == 0 {
				t.Errorf("the secret is in %v", holding)
			}
			torchx(t, dir, nil, "", "delete", "-f", "-")
		})
	}
}

// checkModes checks the modes of all files below a folder, and counts the files that contain
// the secret, by name.
func checkModes(t *testing.T, root string) map[string]int {
	t.Helper()
	holding := map[string]int{}
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file that was removed
		}
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v", path, info.Mode())
		}
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read as its owner: %w", err)
		}
		if bytes.Contains(data, []byte("sesame-env")) {
			holding[e.Name()]++
		}
		return nil
	}))
	return holding
}
