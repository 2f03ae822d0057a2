//go:build unix

package interp

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSandbox(t *testing.T) {
	t.Parallel()
	outside := files(t, map[string]string{"secret.star": "x = 'secret'"})
	dir := files(t, map[string]string{
		".torchxconfig": "",
		"file.star":     `load("./link.star", "x")`,
		"folder.star":   `load("./linked/secret.star", "x")`,
		"inside.star":   `load("./ok.star", "x")`,
		"real.star":     "x = 1",
		"pipe.star":     `load("./fifo", "x")`,
		"device.star":   `load("./null", "x")`,
		"big.star":      strings.Repeat("#\n", MaxSource/2+1),
		"edge.star":     strings.Repeat("#\n", MaxSource/2),
		"nul.star":      "x = 1\x00",
		"latin.star":    "x = '\xe4'",
		"bom.star":      "\ufeffx = 1\nfail(x)",
	})
	for name, target := range map[string]string{
		"link.star": filepath.Join(outside, "secret.star"), "linked": "../" + filepath.Base(outside),
		"ok.star": "real.star", "null": "/dev/null", "loop.star": "loop.star",
		"stdin.star": "/dev/stdin",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The folder of the link is next to ours, so that "../" reaches it.
	if err := os.Remove(filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(rel, filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"file.star":   "file.star:1:1: cannot load ./link.star: is or passes through a symbolic link that leads out of the workspace root " + dir,
		"folder.star": "folder.star:1:1: cannot load ./linked/secret.star: is or passes through a symbolic link that leads out of",
		"link.star":   "link.star: is or passes through a symbolic link that leads out of",
		"pipe.star":   "pipe.star:1:1: cannot load ./fifo: is a named pipe; only regular files are read",
		"fifo":        "fifo: is a named pipe; only regular files are read",
		"device.star": "is or passes through a symbolic link",
		"stdin.star":  "is or passes through a symbolic link",
		"loop.star":   "loop.star: cannot be read: too many levels of symbolic links",
		"/dev/null":   "/dev/null: is a device; only regular files are read",
		"/dev/stdin":  "/dev/stdin: is ",
		"big.star":    "big.star: is 1 MiB large, over the limit of 1 MiB for a Starlark file; split it",
		"nul.star":    "nul.star: is not text (a NUL byte at offset 5); name a Starlark file",
		"latin.star":  "latin.star: is not UTF-8 text (byte 0xe4 at offset 5); save it as UTF-8",
		"bom.star":    "bom.star:2:5: fail: 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, Config{Dir: dir}, name)
			wantError(t, err, want)
		})
	}
	for _, name := range []string{"inside.star", "edge.star"} {
		if _, err := load(t, Config{Dir: dir}, name); err != nil {
			t.Errorf("%s: got %v, want it to load", name, err)
		}
	}
}

// TestSandboxWithoutMark checks that a component file without a root marker cannot load from its parent.
func TestSandboxWithoutMark(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"x.star": "x = 1", "sub/a.star": `load("../x.star", "x")`})
	_, err := load(t, Config{Dir: dir}, "sub/a.star")
	wantError(t, err, "leads out of the workspace root "+filepath.Join(dir, "sub"))
}
