package starfiles

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/starlark/interp"
)

// ugly are files that are not formatted.
var ugly = map[string]string{
	"spaces.star":   "x=[1,2 ,3]\ndef f(a,b=1,*c,**d):\n  return a+b\n",
	"loads.star":    "x = 1\nload(\"//b.star\", \"z\", \"a\")\nload('./a.star', \"b\")\n",
	"comments.star": "# one\n\n\nx = 1 # two\n  # three\n\n\n\ny = 2\n",
	"crlf.star":     "x=1\r\n\"\"\"a\r\nb\"\"\"\r\n",
	"strings.star":  "x = 'a' + \"b\" + '''c''' + r'\\d' + 'it\\'s'\n",
	"wrapped.star":  "x = f(a,\n  b)\ny = {'b':1,'a':2,\n}\nz = (1,)\n",
	"empty.star":    "",
	"newline.star":  "x = 1",
	"nested.star":   "def f():\n  if x:\n     for i in y: pass\n  elif z: return\n  else: fail('x')\n",
	"lambda.star":   "x = lambda a,b=1:a if b else [i for i in a if i%2]\n",
	"build.star":    "deps = [':b', ':a']\nx(name='n', srcs=['b','a'], deps=[':z',':a'])\n",
	"BUILD.star":    "x(srcs=['b','a'], name='n')\n",
	"mark.star":     "\uFEFFx=1\n",
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for name, src := range ugly {
		out, err := Format(name, []byte(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := Format(name, out)
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: formatted twice: want the first of\n%q\n%q %v", name, out, again, err)
		}
	}
	out, err := Format("x.star", []byte(ugly["spaces.star"]))
	if want := "x = [1, 2, 3]\n\ndef f(a, b = 1, *c, **d):\n    return a + b\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want the canonical form", out, err)
	}
}

// TestTabs checks that indentation by tabs is parsed like run does, and written as spaces. Tabs in strings stay.
func TestTabs(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"def f(x):\n\tif x:\n\t\treturn 1\n\treturn 2\n":                              "def f(x):\n    if x:\n        return 1\n    return 2\n",
		"def f(x):\n\tif x:\n                return 1\n        return 2\n":            "def f(x):\n    if x:\n        return 1\n    return 2\n",
		"def f(x):\n  \tif x:\n\t\treturn 1\n    \treturn 2\n":                        "def f(x):\n    if x:\n        return 1\n    return 2\n",
		"def f():\n\t\"\"\"F.\n\n\t\ttabs\n\t\"\"\"\n\t# why\n\treturn [\n\t1,\t2]\n": "def f():\n    \"\"\"F.\n\n\t\ttabs\n\t\"\"\"\n\n    # why\n    return [\n        1,\n        2,\n    ]\n",
		"x = 1 + \\\n\t2\n": "x = 1 + \\\n    2\n",
	} {
		out, err := Format("x.star", []byte(src))
		if err != nil || string(out) != want {
			t.Errorf("%q: got %q, %v, want %q", src, out, err, want)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"def f(:\n":                             "x.star:1:6: '(' is never closed: got ':', want ')'",
		"x = 1\x00":                             "x.star: is not text (a NUL byte at offset 5); name a Starlark file",
		"\xff":                                  "x.star: is not UTF-8 text (byte 0xff at offset 0); save it as UTF-8",
		strings.Repeat("x = 1\n", 2e5):          "x.star: is 1.1 MiB large, over the limit of 1 MiB for a Starlark file; split it",
		"x = " + strings.Repeat("-", 5e5) + "1": "excessive nesting",
	} {
		_, err := Format("x.star", []byte(src))
		var at *interp.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: %v, want %s", src, err, want)
		}
	}
}

// TestCannotBeFormatted checks that unsupported syntax is reported.
func TestCannotBeFormatted(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"x = b\"a\"\n": "x.star:1:9: cannot be formatted: syntax error near \"a\"",
	} {
		if out, err := Format("x.star", []byte(src)); err == nil || err.Error() != want {
			t.Errorf("%q: %q %v, want %s", src, out, err, want)
		}
	}
}

// TestSameAsBuildifier checks that the result is identical to that of buildifier.
func TestSameAsBuildifier(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "buildifier")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "github.com/bazelbuild/buildtools/buildifier").CombinedOutput(); err != nil {
		t.Fatalf("build buildifier: %v\n%s", err, out)
	}
	files := map[string]string{}
	for name, src := range ugly {
		// Without files that buildifier treats as Bazel's, and without a byte order mark, which it does not support.
		if !slices.Contains([]string{"build.star", "BUILD.star", "mark.star"}, name) {
			files[name] = src
		}
	}
	real, err := filepath.Glob("../../components/*.star")
	if err != nil || len(real) == 0 {
		t.Fatalf("no components: %v", err)
	}
	for _, path := range real {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = strings.ReplaceAll(strings.ReplaceAll(string(data), " = ", "="), "    ", "  ")
	}
	for name, src := range files {
		got, err := Format(name, []byte(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(program, "-lint=off", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", name, err, out)
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%q\nbuildifier writes\n%q %v", name, got, want, err)
		}
	}
}

// FuzzFormat checks that the result of formatting parses and is formatted.
func FuzzFormat(f *testing.F) {
	for _, src := range ugly {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		out, err := Format("x.star", []byte(src))
		if err != nil {
			return
		}
		if _, err := Format("x.star", out); err != nil {
			t.Fatalf("%q became %q: %v", src, out, err)
		}
	})
}
