//go:build linux

package enginetest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// childVariable makes this program start an engine and wait until it is killed.
const childVariable = "TORCHX_TEST_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	e, err := Start(Options{})
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(e.dir + "\n")
	time.Sleep(time.Hour) // the test kills it
	runtime.KeepAlive(e)  // collecting the pipe would end the engine
}

// A killed test leaves no engine.
func TestKilled(t *testing.T) {
	t.Parallel()
	Need(t, Options{}) // skips the test if no engine can be started
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(out).ReadString('\n')
	dir = strings.TrimSpace(dir)
	if err != nil || len(processes(t, dir)) < 2 {
		t.Fatalf("no engine in %q: %v", dir, err)
	}
	defer os.RemoveAll(dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for deadline := time.Now().Add(time.Minute); len(processes(t, dir)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got processes %q after the kill, want none", processes(t, dir))
		}
	}
}

// processes returns the command lines that contain a folder.
func processes(t *testing.T, dir string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(line), dir) { // fails if the process has ended
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
