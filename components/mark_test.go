//go:build linux

package components_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/spec"
)

// pythonJob returns an app of one node whose processes run a Python program.
func pythonJob(t *testing.T, procs int, program string, options ...string) *spec.App {
	t.Helper()
	_, err := exec.LookPath("python3")
	missing(t, "python", err)
	options = append([]string{"-j", fmt.Sprint(procs), "--launcher", "env", "-m", "x"}, options...)
	app := mustBuild(t, "dist.ddp", options...)
	app.Roles[0].Args = append(app.Roles[0].Args[:len(app.Roles[0].Args)-2], "-c", program)
	app.Roles[0].Env = nil
	return app
}

const pythonHead = "import os, sys, time, random, signal\nrank = int(os.environ['LOCAL_RANK'])\n"

// TestMarkedLinesAreWhole checks that lines of all lengths stay whole when several processes write them in
// parallel and in pieces, that no line changes its stream, and that each process's lines keep their order.
func TestMarkedLinesAreWhole(t *testing.T) {
	const procs, lines = 4, 50
	app := pythonJob(t, procs, pythonHead+`
random.seed(rank)
for i in range(50):
    n = random.choice([0, 1, 100, 5000, 70000, 200000])
    for fd, name in (1, b"o"), (2, b"e"):
        line = name + b" %d %d " % (rank, i) + name * n + b"\n"
        cut = random.randrange(len(line)) if i % 3 == 0 else 0
        for part in line[:cut], line[cut:]:
            while part:
                part = part[os.write(fd, part):]
os.write(1, b"no newline")
`)
	eachShell(t, func(t *testing.T, shell []string) {
		n := start(t, shell, app, 0)
		out := n.drain()
		_, code := n.wait(t)
		all := strings.Split(string(<-out), "\n")
		if code != 0 {
			t.Fatalf("code %d: %s", code, cut(n.stderr.String()))
		}
		for stream, all := range map[string][]string{"o": all, "e": strings.Split(strings.TrimSuffix(n.stderr.String(), "\n"), "\n")} {
			form := regexp.MustCompile(`^\[rank(\d)\]:` + stream + ` (\d) (\d+) (` + stream + `*)$`)
			count := 0
			for _, line := range all {
				m := form.FindStringSubmatch(line)
				if m != nil && m[1] == m[2] {
					count++
				} else if !strings.HasSuffix(line, "]:no newline") {
					t.Fatalf("stream %s has the line %q", stream, cut(line))
				}
			}
			if count != procs*lines {
				t.Errorf("stream %s has %d lines, want %d", stream, count, procs*lines)
			}
		}
	})
}

// drain reads stdout until its end: a node blocks when it writes more than fits into the pipe.
func (n *node) drain() <-chan []byte {
	out, reader := make(chan []byte, 1), n.stdout
	n.stdout = bufio.NewReader(strings.NewReader(""))
	go func() {
		all, _ := io.ReadAll(reader) // the error is ignored: the test closes the pipe at its end
		out <- all
	}()
	return out
}

func cut(text string) string { return text[:min(len(text), 200)] }

// TestMarkedStreams checks which streams get a prefix with --tee.
func TestMarkedStreams(t *testing.T) {
	t.Parallel()
	const program = pythonHead + `
print("out")
print("err", file=sys.stderr)
sys.exit(3)
`
	for tee, want := range map[string][2]string{
		"0": {"out", "err\n"}, "1": {"[rank0]:out", "err\n"}, "2": {"out", "[rank0]:err\n"}, "3": {"[rank0]:out", "[rank0]:err\n"},
	} {
		n := start(t, []string{"sh"}, pythonJob(t, 1, program, "--tee", tee), 0)
		lines, code := n.wait(t)
		stderr, said, _ := strings.Cut(n.stderr.String(), "torchx: ")
		if code != 3 || !slices.Equal(lines, []string{want[0]}) || stderr != want[1] {
			t.Errorf("--tee %s: code %d, got %q and %q, want %q", tee, code, lines, stderr, want)
		}
		if said != "node 0: rank 0 (local rank 0) exited with code 3\n" {
			t.Errorf("--tee %s: said %q", tee, said)
		}
	}
	_, _, err := build(t, nil, "dist.ddp", "--launcher", "env", "--tee", "4", "--script", "x.py")
	wantError(t, err, "invalid tee 4, must be 0 (nothing), 1 (stdout), 2 (stderr) or 3 (both)")
}

// TestMarkedPartsOfLines checks that an incomplete line is shown, with a prefix after each carriage
// return, and that a line of another process does not continue it.
func TestMarkedPartsOfLines(t *testing.T) {
	t.Parallel()
	app := pythonJob(t, 2, pythonHead+`
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if rank == 0:
    os.write(1, b"a\r\nprompt> ")
    signal.pause()
while True:
    os.write(1, b"\r10%")
    time.sleep(0.05)
`)
	n := start(t, []string{"sh"}, app, 0)
	var seen strings.Builder
	for !strings.Contains(seen.String(), "[rank0]:prompt> ") || !strings.Contains(seen.String(), "\r[rank1]:10%") {
		b, err := n.stdout.ReadByte()
		if err != nil {
			t.Fatalf("after %q: %v", seen.String(), err)
		}
		seen.WriteByte(b)
	}
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	lines, code := n.wait(t)
	text := seen.String() + strings.Join(lines, "\n")
	if code != 0 || !strings.Contains(text, "[rank0]:a\r\n") || regexp.MustCompile(`prompt> [^\n]*rank1`).MatchString(text) {
		t.Errorf("code %d, got %q", code, text)
	}
}

// TestMarkedDaemon checks that the node does not wait for a daemon that keeps the output of a process open.
func TestMarkedDaemon(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app := pythonJob(t, 2, pythonHead+`
print("before", flush=True)
if rank == 0 and os.fork() == 0:
    os.setsid()
    while True:
        os.write(1, b"daemon\n")
`)
		n := start(t, shell, app, 0)
		out := n.drain()
		_, code := n.wait(t)
		lines := strings.Split(string(<-out), "\n")
		if code != 0 || !slices.Contains(lines, "[rank0]:before") || !slices.Contains(lines, "[rank1]:before") {
			t.Errorf("code %d, got %q", code, cut(strings.Join(lines, "|")))
		}
	})
}

// TestUnmarkedWithoutPython checks that without a Python the output is unchanged.
func TestUnmarkedWithoutPython(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		app, python := job(t, "1x2", "echo $LOCAL_RANK")
		bin := tools(t, "mkdir", "mkfifo", "rm", "sh", shell[0])
		path := strings.TrimPrefix(python, "PYTHON=")
		n := start(t, shell, app, 0, "PATH="+bin, "PYTHON="+path)
		lines, code := n.wait(t)
		if want := "torchx: node 0: output has no rank prefix and lines of processes may mix: no working Python on PATH\n"; code != 0 || !slices.Equal(lines, []string{"0", "1"}) || n.stderr.String() != want {
			t.Errorf("code %d, got %q and %q", code, lines, &n.stderr)
		}
	})
}
