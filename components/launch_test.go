//go:build linux

package components_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "torchx/test/cleanenv"

	"torchx/runtime/spec"
	"torchx/test/long"
)

// job returns an app whose processes run a shell script with the arguments.
func job(t *testing.T, shape, script string, args ...string) (*spec.App, string) {
	t.Helper()
	python := filepath.Join(t.TempDir(), "python")
	// A fake interpreter that drops -u and the script's name, and runs our script.
	text := "#!/bin/sh\nshift 2\n" + script + "\n"
	if err := os.WriteFile(python, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	options := []string{"-j", shape, "--launcher", "env", "--script", "x.py", "--"}
	return mustBuild(t, "dist.ddp", append(options, args...)...), "PYTHON=" + python
}

func TestEnvLauncherRanks(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "3x2",
			`echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR $MASTER_PORT "$@"`,
			"a b", "$HOME", "it's", "", "${app_id}")
		for id := range 3 {
			lines, code := start(t, shell, app, id, python, "TORCHX_RANK0_HOST=127.0.0.1", "TORCHX_PORT_C10D=30001").wait(t)
			var want []string
			for local := range 2 {
				want = append(want, fmt.Sprintf("[rank%d]:%d %d 6 2 %d 127.0.0.1 30001 a b $HOME it's  app-1", local, id*2+local, local, id))
			}
			if code != 0 || !slices.Equal(lines, want) {
				t.Errorf("node %d: code %d, got %q, want %q", id, code, lines, want)
			}
		}
	})
}

func TestEnvLauncherElasticWorldSize(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "1:4x1", `echo $RANK/$WORLD_SIZE $MASTER_ADDR:$MASTER_PORT`)
		lines, code := start(t, shell, app, 3, python).wait(t)
		if want := []string{"[rank0]:3/4 localhost:29500"}; code != 0 || !slices.Equal(lines, want) {
			t.Errorf("code %d, got %q, want %q", code, lines, want)
		}
	})
}

func TestSelfCheck(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app := mustBuild(t, "dist.ddp", "--self_check", "-j", "2x2", "--rdzv_port", "4000")
		lines, code := start(t, shell, app, 1).wait(t)
		want := []string{
			"rank 2/4 (node 1, local rank 0) rendezvous localhost:4000 ok",
			"rank 3/4 (node 1, local rank 1) rendezvous localhost:4000 ok",
		}
		if code != 0 || !slices.Equal(lines, want) {
			t.Errorf("code %d, got %q, want %q", code, lines, want)
		}
		lines, code = start(t, shell, app, 5, "TORCHX_PORT_C10D=none").wait(t)
		if code != 1 || !strings.HasSuffix(lines[0], "bad port") {
			t.Errorf("code %d of a bad port, got %q", code, lines)
		}
	})
}

// TestEnvLauncherFirstFailure lets one process fail while the others wait for
// SIGTERM, on which they exit with a different code.
func TestEnvLauncherFirstFailure(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "1x3", `
			if [ "$LOCAL_RANK" = 1 ]; then
				until [ -e "$1/0" ] && [ -e "$1/2" ]; do sleep 0.01; done
				exit 7
			fi
			trap 'echo stopped $LOCAL_RANK; exit 9' TERM
			: >"$1/$LOCAL_RANK"
			while :; do sleep 0.01; done`, t.TempDir())
		n := start(t, shell, app, 0, python)
		lines, code := n.wait(t)
		if want := []string{"[rank0]:stopped 0", "[rank2]:stopped 2"}; code != 7 || !slices.Equal(lines, want) {
			t.Errorf("code %d, got %q, want 7, %q", code, lines, want)
		}
		want := "torchx: node 0: rank 1 (local rank 1) exited with code 7; stopping 2 other ranks of this node\n"
		if got := n.stderr.String(); got != want {
			t.Errorf("stderr %q, want %q", got, want)
		}
	})
}

func TestEnvLauncherSignaledProcess(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		for name, want := range map[string]int{"KILL": 137, "ABRT": 134} {
			app, python := job(t, "1x2", `[ "$LOCAL_RANK" = 0 ] || exec sleep 60; kill -s `+name+` $$`)
			n := start(t, shell, app, 0, python)
			if _, code := n.wait(t); code != want {
				t.Errorf("code %d after SIG%s, want %d", code, name, want)
			}
			if got := n.stderr.String(); !strings.Contains(got, fmt.Sprintf("rank 0) was killed by signal %d", want-128)) {
				t.Errorf("got stderr %q, want the signal of rank 0", got)
			}
		}
	})
}

func TestEnvLauncherForwardsSignals(t *testing.T) {
	// A signal that the test catches has its default action in children, also under nohup.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	const wait = `
		trap 'echo got TERM; exit '$1 TERM
		echo ready
		while :; do sleep 0.01; done`
	eachShell(t, func(t *testing.T, shell []string) {
		for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			for _, want := range []int{0, 5} {
				app, python := job(t, "1x2", wait, strconv.Itoa(want))
				n := start(t, shell, app, 0, python)
				for range 2 {
					if line := n.await(t); !strings.HasSuffix(line, "]:ready") {
						t.Fatalf("got line %q", line)
					}
				}
				if err := n.cmd.Process.Signal(sent); err != nil { // only to the launcher
					t.Fatal(err)
				}
				lines, code := n.wait(t)
				if code != want || !slices.Equal(lines, []string{"[rank0]:got TERM", "[rank1]:got TERM"}) || n.stderr.Len() > 0 {
					t.Errorf("%v: code %d, got %q %s, want code %d", sent, code, lines, &n.stderr, want)
				}
			}
		}
	})
}

// TestEnvLauncherGroupStop stops the whole group, as backends do.
func TestEnvLauncherGroupStop(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "1x2", `echo ready; exec sleep 60`)
		n := start(t, shell, app, 0, python)
		n.await(t)
		n.await(t)
		if err := syscall.Kill(-n.cmd.Process.Pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if _, code := n.wait(t); code != 143 {
			t.Errorf("code %d, want 143", code)
		}
	})
}

// TestEnvLauncherStopWhileStarting stops only the launcher, as container engines do, or the whole
// group, at different moments of the start.
func TestEnvLauncherStopWhileStarting(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "1x2", `exec sleep 60`)
		tries := long.N(25, 5)
		for i := range tries {
			n := start(t, shell, app, 0, python)
			pid := n.cmd.Process.Pid
			if i%2 == 1 {
				pid = -pid
			}
			after := time.Duration(50*i/tries) * time.Millisecond
			time.Sleep(after) // any moment is right
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if _, code := n.wait(t); code != 143 && code != -1 { // -1: before the launcher set its traps
				t.Errorf("code %d after %s, want 143; stderr: %s", code, after, &n.stderr)
			}
		}
	})
}

// TestEnvLauncherKillsStubborn sends the signal that the launcher's timer sends
// 30 seconds after a failure.
func TestEnvLauncherKillsStubborn(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "1x2", `
			if [ "$LOCAL_RANK" = 1 ]; then
				until [ -e "$1/0" ]; do sleep 0.01; done
				exit 3
			fi
			trap 'echo still here; trap "" TERM; exec sleep 60' TERM
			: >"$1/0"
			while :; do :; done`, t.TempDir())
		n := start(t, shell, app, 0, python)
		if line := n.await(t); line != "[rank0]:still here" {
			t.Fatalf("got line %q", line)
		}
		if err := n.cmd.Process.Signal(syscall.SIGALRM); err != nil {
			t.Fatal(err)
		}
		if _, code := n.wait(t); code != 3 {
			t.Errorf("code %d, want 3", code)
		}
	})
}

func TestEnvLauncherManyProcesses(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "1x40", `exit $((LOCAL_RANK == 39 ? 4 : 0))`)
		if _, code := start(t, shell, app, 0, python).wait(t); code != 4 {
			t.Errorf("code %d, want 4", code)
		}
	})
}

func TestEnvLauncherInterpreter(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app := mustBuild(t, "dist.ddp", "--launcher", "env", "-j", "1", "-m", "a.b", "x")
		if _, err := exec.LookPath("python3"); err == nil {
			missing := start(t, shell, app, 0, "PYTHON=/no/such/python")
			if _, code := missing.wait(t); code != 127 {
				t.Errorf("code %d without interpreter, want 127: %s", code, &missing.stderr)
			}
		}
		bin := tools(t, "mkdir", "mkfifo", "rm", "sh", shell[0])
		n := start(t, shell, app, 0, "PATH="+bin, "PYTHON=")
		if _, code := n.wait(t); code != 127 || !strings.Contains(n.stderr.String(), "set PYTHON") {
			t.Errorf("code %d without python, want 127: %s", code, &n.stderr)
		}
		fake := "#!/bin/sh\necho \"$@\"\n"
		if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(fake), 0o700); err != nil {
			t.Fatal(err)
		}
		lines, code := start(t, shell, app, 0, "PATH="+bin, "PYTHON=").wait(t)
		if code != 0 || !slices.Equal(lines, []string{"-u -m a.b x"}) {
			t.Errorf("got code %d, %q, want 0 and the module", code, lines)
		}
	})
}

func TestEnvLauncherWithoutTmp(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app := mustBuild(t, "dist.ddp", "--self_check", "-j", "1x1")
		if _, code := start(t, shell, app, 0, "TMPDIR=/no/such/folder").wait(t); code != 0 {
			t.Errorf("code %d, want another folder to be used", code)
		}
	})
}

// TestEnvProgramKeepsItsDollars checks that macro replacement changes the program only
// where intended.
func TestEnvProgramKeepsItsDollars(t *testing.T) {
	t.Parallel()
	program := mustBuild(t, "dist.ddp", "--launcher", "env", "--script", "x.py", "-j", "2").Roles[0].Args[1]
	first, rest, _ := strings.Cut(program, "\n")
	macros := spec.Macros{AppID: "A", ImgRoot: "I", ReplicaID: "7", Rank0Env: "HOST_VAR"}
	if got, want := macros.Substitute(first),
		"node=7 nnodes=1 nproc=2 host=${HOST_VAR:=localhost} port=${TORCHX_PORT_C10D:=29500} tee=3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := macros.Substitute(rest), strings.ReplaceAll(rest, "$$$$", "$$"); got != want {
		t.Error(diff(want, got))
	}
}

// TestTorchrunLine runs the line of the torchrun launcher with a stand-in for torchrun.
func TestTorchrunLine(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("bash")
	missing(t, "shells", err)
	bin := t.TempDir()
	fake := "#!/bin/sh\nfor a; do echo \"[$a]\"; done | tr -d '\\n'; echo\n"
	if err := os.WriteFile(filepath.Join(bin, "torchrun"), []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	app := mustBuild(t, "dist.ddp", "-j", "2x1", "--script", "x.py", "--", "a b", "$HOME", "--flag")
	path := "PATH=" + bin + ":" + os.Getenv("PATH")
	for _, c := range []struct{ env, port string }{{"TORCHX_PORT_C10D=30002", "30002"}, {"A=b", "29500"}} {
		lines, code := start(t, []string{"bash"}, app, 1, path, c.env).wait(t)
		want := "[--rdzv_backend][c10d][--rdzv_endpoint][localhost:" + c.port + "][--rdzv_id][app-1][--nnodes][2]" +
			"[--nproc_per_node][1][--tee][3][--role][][x.py][a b][$HOME][--flag]"
		if code != 0 || !slices.Equal(lines, []string{want}) {
			t.Errorf("code %d, got %q, want %q", code, lines, want)
		}
	}
}

// resolver returns a folder of programs: one that resolves a name at the n-th try, and a sleep
// that does not wait (busybox has its own).
func resolver(t *testing.T, tool string, n int, shell string) (bin, requests string) {
	t.Helper()
	bin = tools(t, "mkdir", "mkfifo", "rm", "sh", "wc", shell)
	requests = filepath.Join(t.TempDir(), "requests")
	unknown := map[string]string{"getent": "exit 2", "ping": `echo "ping: bad address 'node-0'" >&2; exit 1`}
	for name, text := range map[string]string{
		tool:    fmt.Sprintf(`echo "$*" >>%[1]q; [ "$(wc -l <%[1]q)" -ge %[2]d ] || { %[3]s; }`, requests, n, unknown[tool]),
		"sleep": ":",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return bin, requests
}

// checkResolve runs a self-check whose first node is resolved at the n-th try.
func checkResolve(t *testing.T, shell []string, tool string, n, tries int) (stderr string) {
	t.Helper()
	bin, requests := resolver(t, tool, n, shell[0])
	app := mustBuild(t, "dist.ddp", "--self_check", "-j", "2x1")
	node := start(t, shell, app, 1, "PATH="+bin, "TORCHX_RANK0_HOST=node-0")
	lines, code := node.wait(t)
	want := "rank 1/2 (node 1, local rank 0) rendezvous node-0:29500 ok"
	if code != 0 || !slices.Equal(lines, []string{want}) {
		t.Errorf("code %d, got %q: %s", code, lines, &node.stderr)
	}
	got, err := os.ReadFile(requests)
	question := map[string]string{"getent": "ahosts node-0\n", "ping": "-c 1 -w 1 node-0\n"}[tool]
	if want := strings.Repeat(question, tries); err != nil || string(got) != want {
		t.Errorf("requests %q, %v; want %d times", got, err, tries)
	}
	return node.stderr.String()
}

func isBusybox(t *testing.T, shell string) bool {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Fatal(err)
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path) == "busybox"
}

func TestEnvLauncherWaitsForName(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		for _, tool := range []string{"getent", "ping"} {
			if tool == "ping" && isBusybox(t, shell[0]) {
				continue // uses its built-in ping instead of the one on PATH
			}
			if got := checkResolve(t, shell, tool, 2, 2); got != "" {
				t.Errorf("got stderr %q, want none", got)
			}
		}
	})
}

func TestEnvLauncherContinuesWithoutName(t *testing.T) {
	t.Parallel()
	const want = "torchx: node 1: cannot resolve node-0 after 60s, continuing\n"
	// One whose sleep is a program: the sleep of busybox would take the minute.
	i := slices.IndexFunc(shells, func(s []string) bool {
		_, err := exec.LookPath(s[0])
		return err == nil && !isBusybox(t, s[0])
	})
	if i < 0 {
		missing(t, "shells", errors.New("every shell is busybox"))
	}
	if got := checkResolve(t, shells[i], "getent", 1000, 60); got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
}

// TestEnvLauncherLostWatcher kills the watcher of a process, which then cannot
// report how the process ended.
func TestEnvLauncherLostWatcher(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		killed := filepath.Join(t.TempDir(), "killed")
		app, python := job(t, "1x1", `echo $PPID; until [ -e "$1" ]; do sleep 0.01; done`, killed)
		n := start(t, shell, app, 0, python)
		watcher, err := strconv.Atoi(strings.TrimPrefix(n.await(t), "[rank0]:"))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(watcher, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, code := n.wait(t)
		if code != 137 || !strings.Contains(n.stderr.String(), "watchers killed: 1") {
			t.Errorf("code %d, want 137: %s", code, &n.stderr)
		}
	})
}
