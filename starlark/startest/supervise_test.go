package startest_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"torchx/starlark/startest"
)

// shared creates a value that takes very long to hash, in one step of the engine.
const shared = `
def _shared():
    x = (0,)
    for i in range(60):
        x = (x, x)
    return x
`

func TestStuck(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"a_test.star": shared + `
def test_1(t):
    t.eq(1, 1)

def test_2(t):
    {_shared(): 1}

def test_3(t):
    t.error("wrong")

def test_4(t):
    t.run("sub", lambda t: {_shared(): 1})
`,
		"b_test.star": "def test_b(t):\n    t.eq(1, 1)\n",
		"c_test.star": shared + "\nX = hash and {_shared(): 1}\n",
	})
	out, err := supervised(t.Context(), t, dir, startest.Options{Timeout: 500 * time.Millisecond})
	must(t, err)
	for name, want := range map[string]string{
		"a_test.star:test_1": "", "b_test.star:test_b": "", "a_test.star:test_3": "wrong",
		"a_test.star:test_2": "the evaluation took longer than 500ms and was stopped",
		"a_test.star:test_4": "the evaluation took longer than 500ms and was stopped",
	} {
		r, ok := out.tests[name]
		if got := outputOf(r); !ok || (want == "") != (r.Status == startest.Pass) || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %+v, want %q", name, r, want)
		}
	}
	if f := out.files["a_test.star"]; f.Status != startest.Fail || f.Tests != 4 || f.Seconds < 1 {
		t.Errorf("got a %+v, want a failure of 4 tests", f)
	}
	if f := out.files["b_test.star"]; f.Status != startest.Pass {
		t.Errorf("got b %+v, want a pass", f)
	}
	if f := out.files["c_test.star"]; f.Status != startest.Fail || !strings.Contains(f.Problem, "took longer than 500ms") {
		t.Errorf("got c %+v, want a time limit", f)
	}
}

// TestCrash checks that a test that ends its process is identified and does not affect other tests.
func TestCrash(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"a_test.star": `
load("@torchx//one.star", "one")

def test_1(t):
    t.eq(1, 1)

def test_2(t):
    t.plan(specs.replace(one(), name = "crash"))

def test_3(t):
    t.eq(1, 1)
`,
		"b_test.star": "def test_b(t):\n    t.eq(1, 1)\n",
	})
	out, err := supervised(t.Context(), t, dir, startest.Options{})
	must(t, err)
	for name, r := range out.tests {
		want := ""
		if strings.HasSuffix(name, "_2") {
			want = "a_test.star: its test process failed: exit status 2: fatal error: no more"
		}
		if outputOf(r) != want {
			t.Errorf("%s: %+v, want %q", name, r, want)
		}
	}
	if len(out.tests) != 4 || out.files["a_test.star"].Status != startest.Fail || out.files["b_test.star"].Status != startest.Pass {
		t.Errorf("got %+v, want 4 tests, a failed and b passed", out)
	}
}

// TestMemoryOfOthers: the memory limit is that of the whole process, and only the test that exceeds it may fail.
func TestMemoryOfOthers(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"a_test.star": `
def test_hungry(t):
    l = []
    for i in range(1 << 30):
        l.append([0] * 500000)
`,
		"b_test.star": "def _busy(t):\n    l = []\n    for i in range(60000):\n        l.append(i)\n" +
			strings.Repeat("\ndef test_N(t):\n    _busy(t)\n", 1) + "\ndef test_1(t):\n    _busy(t)\n\ndef test_2(t):\n    _busy(t)\n",
		"c_test.star": "def _fill():\n    return [[i] for i in range(60000)]\n\nALL = _fill()\n\ndef test_all(t):\n    t.eq(len(ALL), 60000)\n",
	})
	out, err := supervised(t.Context(), t, dir, startest.Options{MaxHeap: 48 << 20, Parallel: 4, Timeout: time.Minute})
	must(t, err)
	for name, r := range out.tests {
		if hungry := name == "a_test.star:test_hungry"; hungry != (r.Status == startest.Fail) {
			t.Errorf("%s: got %+v, want only test_hungry to fail", name, r)
		}
	}
	if got := outputOf(out.tests["a_test.star:test_hungry"]); !strings.Contains(got, "needs more than 48 MiB of memory") {
		t.Errorf("got %s, want the memory limit", got)
	}
	if len(out.tests) != 5 {
		t.Errorf("got %d tests, want 5", len(out.tests))
	}
}

func TestWorkersThatCannotWork(t *testing.T) {
	t.Parallel()
	job := startest.Job{Tasks: []startest.Task{{File: "x_test.star"}}}
	for _, c := range []struct{ program, arg, want string }{
		{"/nonexistent/program", "", "start a test process: "},
		{"sh", "exit 7", "a test process failed: exit status 7"},
		{"sh", "echo oh no >&2; exit 1", "a test process failed: exit status 1: oh no"},
		{"sh", "true", "a test process failed: exited before its tests ended"},
		{"sh", "echo nonsense", "invalid message from a test process"},
	} {
		_, err := startest.Supervise(t.Context(), job, func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, c.program, "-c", c.arg)
		}, func(startest.Message) {})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.arg, err, c.want)
		}
	}
}

func TestSuperviseIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"x_test.star": shared + "\ndef test_x(t):\n    {_shared(): 1}\n"})
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, cause)
	defer cancel()
	begun := time.Now()
	_, err := supervised(ctx, t, dir, startest.Options{Timeout: time.Hour})
	if !errors.Is(err, cause) || time.Since(begun) > 20*time.Second {
		t.Errorf("got %v after %s, want the cause within 20s", err, time.Since(begun))
	}
}
