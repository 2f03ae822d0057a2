//go:build linux

package components_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/spec"
	"torchx/test/long"
)

// missing skips a test if err says that a part of the machine is missing, or fails it if
// TORCHX_REQUIRE lists the part.
func missing(t *testing.T, part string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), part):
		t.Fatalf("TORCHX_REQUIRE has %s: %v", part, err)
	default:
		t.Skip(err)
	}
}

// shells are the shells behind sh in common images.
var shells = [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"bash"}, {"busybox", "sh"}}

// eachShell runs a test with every shell that is installed, or with the first if it may not take long.
func eachShell(t *testing.T, test func(t *testing.T, shell []string)) {
	t.Helper()
	t.Parallel()
	for i, shell := range shells {
		t.Run(strings.Join(shell, " "), func(t *testing.T) {
			t.Parallel()
			if i > 0 {
				long.Test(t)
			}
			_, err := exec.LookPath(shell[0])
			missing(t, "shells", err)
			test(t, shell)
		})
	}
}

// node is one node of a job that dist.ddp starts with the env launcher.
type node struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer
	tmp    string // folder for temporary files
}

// start runs replica id of an app's role like a backend, in a separate process group.
// env is added to the role's environment.
func start(t *testing.T, shell []string, app *spec.App, id int, env ...string) *node {
	t.Helper()
	macros := spec.Macros{AppID: "app-1", ReplicaID: strconv.Itoa(id), Rank0Env: "TORCHX_RANK0_HOST"}
	role := macros.Apply(app.Roles[0])
	argv := append(slices.Clone(shell), role.Args...)
	n := &node{cmd: exec.Command(argv[0], argv[1:]...), tmp: t.TempDir()}
	n.cmd.Env = append(os.Environ(), "TMPDIR="+n.tmp, "TORCHX_RANK0_HOST=localhost")
	for _, e := range role.Env {
		n.cmd.Env = append(n.cmd.Env, e.Key+"="+e.Value)
	}
	n.cmd.Env = append(n.cmd.Env, env...)
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	n.cmd.Stderr = &n.stderr
	// A separate pipe: Wait would close that of StdoutPipe while it is read.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	n.cmd.Stdout = writer
	n.stdout = bufio.NewReader(reader)
	err = n.cmd.Start()
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL)
		reader.Close()
	})
	return n
}

// await returns the next line of stdout.
func (n *node) await(t *testing.T) string {
	t.Helper()
	line, err := n.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("read stdout: %v; stderr: %s", err, &n.stderr)
	}
	return strings.TrimSuffix(line, "\n")
}

// wait returns the sorted remaining lines of stdout and the exit code, and fails the
// test if the node does not end within a minute, or a process or a temporary file is left.
func (n *node) wait(t *testing.T) ([]string, int) {
	t.Helper()
	hung := time.AfterFunc(time.Minute, func() {
		t.Errorf("does not end: %s", running(t, n.cmd.Process.Pid))
		_ = syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL)
	})
	err := n.cmd.Wait()
	hung.Stop()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	awaitGroupEnd(t, n.cmd.Process.Pid)
	if left, err := os.ReadDir(n.tmp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v %v", left, err)
	}
	_ = syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL) // otherwise a leftover process keeps the pipe open
	out, err := io.ReadAll(n.stdout)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	slices.Sort(lines)
	return lines, n.cmd.ProcessState.ExitCode()
}

// awaitGroupEnd waits until no process of a group runs, and fails the test if one still
// runs after a minute: killed processes need a moment to end.
func awaitGroupEnd(t *testing.T, pgid int) {
	t.Helper()
	var left string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if left = running(t, pgid); left == "" {
			return
		}
	}
	t.Errorf("processes are left: %s", left)
}

// running lists the processes of a group that are not zombies, by /proc/PID/stat.
func running(t *testing.T, pgid int) string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		name, rest, _ := strings.Cut(string(data), ") ") // the name may contain spaces
		fields := strings.Fields(rest)                   // state, parent, group, ...
		if fields[2] == strconv.Itoa(pgid) && fields[0] != "Z" && fields[0] != "X" {
			found = append(found, name+")")
		}
	}
	return strings.Join(found, ", ")
}

// tools returns a folder with links to some programs, and nothing else.
func tools(t *testing.T, names ...string) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	return bin
}
