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

// Whatever the umask, what an app leaves on disk is its owner's alone, and a
// secret is in no file that others read and in no argument of ours.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"000", "022", "277", "777"} {
		t.Run(umask, func(t *testing.T) {
			t.Parallel()
			dir := secretDir(t)
			home := filepath.Join(dir, "home")
			// The shell's umask goes to torchx and to its agent; this process keeps its own.
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

// checkModes checks everything below a folder and counts the files, by name, in
// which the secret is.
func checkModes(t *testing.T, root string) map[string]int {
	t.Helper()
	holding := map[string]int{}
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file that has gone
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
