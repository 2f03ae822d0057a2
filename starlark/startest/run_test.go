package startest_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/starlark/startest"
)

const several = `
def test_a(t):
    t.run("x", lambda t: t.log("ax"))
    t.run("y", lambda t: t.log("ay"))

def test_ab(t):
    t.run("x", lambda t: t.log("abx"))

def test_b(t):
    pass

def helper(t):
    t.fatal("not a test")

test_data = [1]
`

func TestPatterns(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"x_test.star": several})
	for _, c := range []struct{ run, skip, want string }{
		{"", "", "test_a test_a/x test_a/y test_ab test_ab/x test_b"},
		{"a", "", "test_a test_a/x test_a/y test_ab test_ab/x"},
		{"a$", "", "test_a test_a/x test_a/y"},
		{"a/x", "", "test_a test_a/x test_ab test_ab/x"},
		{"a/x/deeper", "", "test_a test_a/x test_ab test_ab/x"},
		{"test_(a|b)$/^y", "", "test_a test_a/y test_b"},
		{"[/]", "", ""},
		{"none", "", ""},
		{"", "b$", "test_a test_a/x test_a/y"},
		{"", "a/x", "test_a test_a/y test_ab test_b"},
		{"_a", "ab", "test_a test_a/x test_a/y"},
	} {
		out := here(t, dir, startest.Options{Run: c.run, Skip: c.skip})
		var got []string
		for _, r := range out.tests {
			got = append(got, r.Name)
			for _, sub := range r.Subs {
				got = append(got, sub.Name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("-run %q -skip %q: %q, want %q", c.run, c.skip, got, c.want)
		}
		if f := out.files["x_test.star"]; f.Status != startest.Pass || f.Tests != len(out.tests) {
			t.Errorf("got file %+v, want a pass of %d tests", f, len(out.tests))
		}
	}
	if err := startest.CheckPattern("run", "a/("); err == nil || !strings.Contains(err.Error(), `-run: "(" is not a valid regular expression`) {
		t.Errorf("got %v, want an error about the pattern", err)
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	out := here(t, write(t, map[string]string{
		"syntax_test.star": "def test_x(t):\n    t.eq(1,\n",
		"load_test.star":   "load(\"./gone.star\", \"x\")\n",
		"fail_test.star":   "fail(\"no\")\n",
		"twice_test.star":  "def test_x(t):\n    pass\n\ndef test_x(t):\n    pass\n",
		"empty_test.star":  "",
		"args_test.star":   "def test_none():\n    pass\n\ndef test_many(t, u):\n    pass\n",
		"good_test.star":   "def test_x(t):\n    pass\n",
	}), startest.Options{})
	for name, want := range map[string]string{
		"syntax_test.star": "syntax_test.star:2:9: ", "load_test.star": "no such file", "fail_test.star": "fail_test.star:1:5: fail: no",
		"twice_test.star": "cannot reassign global test_x", "empty_test.star": "", "good_test.star": "",
	} {
		f, ok := out.files[name]
		if !ok || (want == "") != (f.Status == startest.Pass) || !strings.Contains(f.Problem, want) || strings.Contains(f.Problem, "\n") {
			t.Errorf("%s: %+v, want %q", name, f, want)
		}
	}
	for name, line := range map[string]string{"test_none": "1", "test_many": "4"} {
		want := "args_test.star:" + line + ": a test must take one argument: def " + name + "(t)"
		if r := out.tests["args_test.star:"+name]; r.Status != startest.Fail || outputOf(r) != want {
			t.Errorf("%s: got %+v, want a failure", name, r)
		}
	}
}

func TestFailFast(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a_test.star": several + "\ndef test_0(t):\n    t.error(\"x\")\n\ndef test_c(t):\n    pass\n", "b_test.star": several})
	out := here(t, dir, startest.Options{FailFast: true, Parallel: 1})
	names := slices.Sorted(maps.Keys(out.tests))
	if len(names) == 0 || slices.Contains(names, "a_test.star:test_c") || out.files["a_test.star"].Tests >= 5 {
		t.Errorf("got %q, %+v, want the tests up to the failure", names, out.files)
	}
}

const covered = `
X = [1]

def f(a, b = 2):
    """Doc."""
    if a:
        return 1
    elif b:
        b = 3
    else:
        b = 4
    for i in range(2):
        def g():
            return i

        a = g()
    return [
        a,
        b,
    ]
`

func TestCoverage(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"f.star": covered, "unused.star": "def u():\n    return 1\n",
		"a_test.star": "load(\"./f.star\", \"f\")\n\ndef test_a(t):\n    f(1)\n",
		"b_test.star": "load(\"./f.star\", \"f\")\n\ndef test_b(t):\n    f(0)\n    f(0)\n",
	})
	out := here(t, dir, startest.Options{Cover: true, Parallel: 3})
	if len(out.cover) != 1 || out.cover[0].Path != filepath.Join(dir, "f.star") {
		t.Fatalf("got files %+v, want f.star", out.cover)
	}
	var b bytes.Buffer
	must(t, startest.WriteProfile(&b, out.cover, filepath.Base))
	want := `mode: count
f.star:6.5,6.9 1 3
f.star:7.9,7.17 1 1
f.star:8.5,8.11 1 2
f.star:9.9,9.14 1 2
f.star:11.9,11.14 1 0
f.star:12.5,12.22 1 2
f.star:13.9,13.14 1 4
f.star:14.13,14.21 1 4
f.star:16.9,16.16 1 4
f.star:17.5,20.6 1 2
`
	if b.String() != want {
		t.Errorf("profile\n%s\nwant\n%s", b.String(), want)
	}
	if ran, all := startest.Covered(out.cover...); ran != 9 || all != 10 {
		t.Errorf("got %d of %d, want 9 of 10", ran, all)
	}
	for name, r := range out.tests {
		if r.Status != startest.Pass {
			t.Errorf("%s: got %s, want a pass", name, outputOf(r))
		}
	}
	goToolReads(t, dir, out)
}

// goToolReads checks that the go command can show the profile.
func goToolReads(t *testing.T, dir string, out *outcome) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "cover.out"))
	must(t, err)
	must(t, startest.WriteProfile(f, out.cover, func(path string) string { return "./" + filepath.Base(path) }))
	must(t, f.Close())
	cmd := exec.Command("go", "tool", "cover", "-html=cover.out", "-o", "cover.html")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	html, err := os.ReadFile(filepath.Join(dir, "cover.html"))
	if err != nil || !strings.Contains(string(html), "f.star (90.0%)") {
		t.Errorf("got %v, want f.star (90.0%%) in %.300s", err, html)
	}
}

// TestTooMuchOutput checks that a test that prints without end is cut with one note, and still shows its failure.
func TestTooMuchOutput(t *testing.T) {
	t.Parallel()
	r := one(t, `
def _print(t):
    for i in range(100):
        print("x" * (1 << 16))

_print(t)
for i in range(3):
    t.run("sub", _print)
fail("the reason")`)
	out := outputOf(r)
	if n := strings.Count(out, "more output"); n != 1 || len(out) > 2<<20 {
		t.Errorf("got %d bytes with %d notes about more output, want 1 MiB and one note", len(out), n)
	}
	if last := r.Output[len(r.Output)-1]; !strings.Contains(last, "the reason") {
		t.Errorf("got %.200q at the end, want the reason", last)
	}
}
