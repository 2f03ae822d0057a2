package startest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/starlark/startest"
)

const goldenFile = `
load("@torchx//one.star", "one")

def test_app(t):
    t.golden(one(), "app")

def test_text(t):
    t.golden("a\nb\n", "sub/text")

def test_plan(t):
    t.golden(t.plan(one(), "kubernetes"), "plan")
`

func TestGolden(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"x_test.star": goldenFile})
	data := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, "testdata", name))
		must(t, err)
		return string(b)
	}
	first := here(t, dir, startest.Options{})
	if got := outputOf(first.tests["x_test.star:test_app"]); got != "x_test.star:5: testdata/app.json does not exist (write it with -update)" {
		t.Errorf("got %s, want a hint to -update", got)
	}
	updated := here(t, dir, startest.Options{Update: true})
	if r := updated.tests["x_test.star:test_text"]; r.Status != startest.Pass || len(r.Wrote) != 1 || r.Wrote[0] != "testdata/sub/text.txt" {
		t.Errorf("got %+v, want testdata/sub/text.txt written", r)
	}
	if got := data("sub/text.txt"); got != "a\nb\n" {
		t.Errorf("got text %q, want a and b", got)
	}
	if got := data("app.json"); !strings.HasPrefix(got, "{\n  \"name\": \"one\",\n") || !strings.HasSuffix(got, "}\n") {
		t.Errorf("got app %q, want indented JSON", got)
	}
	for name, r := range here(t, dir, startest.Options{}).tests {
		if r.Status != startest.Pass {
			t.Errorf("%s: got %s, want a pass", name, outputOf(r))
		}
	}
	for name, r := range here(t, dir, startest.Options{Update: true}).tests {
		if r.Status != startest.Pass || len(r.Wrote) > 0 {
			t.Errorf("%s: got %+v, want nothing written", name, r)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "testdata/sub/text.txt"), []byte("a\r\nb\r\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "testdata/plan.json"), []byte("{}\n"), 0o600))
	changed := here(t, dir, startest.Options{}).tests
	if r := changed["x_test.star:test_text"]; r.Status != startest.Pass {
		t.Errorf("line ends of Windows: %s", outputOf(r))
	}
	got := outputOf(changed["x_test.star:test_plan"])
	if !strings.HasPrefix(got, "x_test.star:11: got differs from testdata/plan.json (accept it with -update):\n    --- want\n    +++ got\n") || !strings.Contains(got, `+  "backend": "kubernetes"`) {
		t.Errorf("got %s, want a difference", got)
	}
	remaining, err := filepath.Glob(filepath.Join(dir, "testdata/*.tmp"))
	if err != nil || len(remaining) > 0 {
		t.Errorf("got %q, %v, want no temporary file", remaining, err)
	}
}

func TestGoldenRefuses(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"x_test.star": `
def test_name(t):
    for name in ["", "../x", "/x", "a//b", "a/../b", ".x", "a\nb", "a" * 300, "-x", "a b"]:
        t.fails(t.golden, "cannot be the name of a golden file", "v", name)

def test_value(t):
    t.fails(t.golden, "cannot|function", lambda: 1, "x")

def test_twice(t):
    t.golden("a", "same")
    t.golden("b", "same")

def test_out(t):
    t.golden("a", "out/x")
`,
		"testdata/same.txt": "",
	})
	outside := t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(dir, "testdata", "out")))
	out := here(t, dir, startest.Options{Update: true}).tests
	for name, want := range map[string]string{
		"test_name": "", "test_value": "",
		"test_twice": "x_test.star:11: testdata/same.txt would be written twice with different contents: use two names",
		"test_out":   "path escapes from parent",
	} {
		r := out["x_test.star:"+name]
		if got := outputOf(r); (want == "") != (r.Status == startest.Pass) || !strings.Contains(got, want) {
			t.Errorf("%s: %s %s, want %s", name, r.Status, got, want)
		}
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v, want nothing outside", list, err)
	}
}
