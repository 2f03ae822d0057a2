//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/test/homedir"
)

// marker is the content that no component may read.
const marker = "outside-marker-7431"

// sandboxDir returns a project with files that try to read the folder next to it.
func sandboxDir(t *testing.T) string {
	t.Helper()
	top := homedir.New(t)
	project := filepath.Join(top, "project")
	must(t, os.MkdirAll(filepath.Join(project, "components"), 0o700))
	must(t, os.Mkdir(filepath.Join(top, "outside"), 0o700))
	app := "def c():\n    return specs.AppDef(name = x, roles = [specs.Role(name = x, image = \"i\", entrypoint = \"true\")])\n"
	for name, text := range map[string]string{
		"outside/secret.star":  "x = \"" + marker + "\"\n" + app,
		"project/inner.star":   "x = \"inner\"\n",
		"project/good.star":    "load(\"./inner.star\", \"x\")\n" + app,
		"project/up.star":      "load(\"../outside/secret.star\", \"x\")\n" + app,
		"project/root.star":    "load(\"//../outside/secret.star\", \"x\")\n" + app,
		"project/abs.star":     "load(\"" + top + "/outside/secret.star\", \"x\")\n" + app,
		"project/tolink.star":  "load(\"./link.star\", \"x\")\n" + app,
		"project/todir.star":   "load(\"./linked/secret.star\", \"x\")\n" + app,
		"project/tofifo.star":  "load(\"./fifo.star\", \"x\")\n" + app,
		"project/stdin.star":   "load(\"/dev/stdin\", \"x\")\n" + app,
		"project/tostdin.star": "load(\"./in.star\", \"x\")\n" + app,
		"project/lib.star":     "load(\"@torchx//../outside/secret.star\", \"x\")\n" + app,
	} {
		must(t, os.WriteFile(filepath.Join(top, name), []byte(text), 0o600))
	}
	for name, target := range map[string]string{
		"link.star": "../outside/secret.star", "linked": "../outside", "in.star": "/dev/stdin", "self.star": "self.star",
	} {
		must(t, os.Symlink(target, filepath.Join(project, name)))
	}
	must(t, syscall.Mkfifo(filepath.Join(project, "fifo.star"), 0o600))
	return project
}

// TestComponentStaysInItsRoot: a component file can only read files below its root.
func TestComponentStaysInItsRoot(t *testing.T) {
	t.Parallel()
	dir := sandboxDir(t)
	stdin := "x = \"" + marker + "\"\ndef c():\n    return specs.AppDef(name = x, roles = [])\n"
	for _, ref := range []string{
		"up.star:c", "root.star:c", "abs.star:c", "tolink.star:c", "todir.star:c", "tofifo.star:c", "stdin.star:c", "tostdin.star:c", "lib.star:c",
		"link.star:c", "linked/secret.star:c", "fifo.star:c", "in.star:c", "self.star:c", "/dev/stdin:c", "/proc/self/fd/0:c", "/proc/self/environ:c", ".:c",
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			got := torchx(t, dir, nil, stdin, "run", "--dryrun", "--json", ref)
			if got.code != program.ExitError || got.out != "" {
				t.Errorf("exit code %d, stdout %q", got.code, got.out)
			}
			if strings.Contains(got.err, marker) {
				t.Errorf("the file was read:\n%s", got.err)
			}
			oneClearLine(t, got)
		})
	}
	if got := torchx(t, dir, nil, "", "run", "--dryrun", "--json", "good.star:c"); got.code != program.ExitOK || !strings.Contains(got.out, "inner") {
		t.Errorf("a file inside the root is refused: %d\n%s", got.code, got.err)
	}
}

// TestComponentCannotRunAnything: names that would run, read or write something during
// evaluation do not exist.
func TestComponentCannotRunAnything(t *testing.T) {
	t.Parallel()
	dir := sandboxDir(t)
	for _, expression := range []string{
		`open("../outside/secret.star").read()`, `exec("touch ran")`, `eval("1")`, `__import__("os").system("touch ran")`,
		`getattr(specs, "__class__")`, `subprocess.run(["touch", "ran"])`, `os.system("touch ran")`, `os.environ`, `path.read("inner.star")`,
		`path.exists("/etc/passwd")`, `shlex.run("touch ran")`, `json.load("inner.star")`, `read_file("inner.star")`, `print.__globals__`,
		`torchx.run("touch ran")`, `input()`, `compile("1")`, `globals()`, `specs.__dict__`,
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			dir := homedir.New(t)
			text := "def c():\n    v = " + expression + "\n    return specs.AppDef(name = \"a\", metadata = {\"v\": str(v)}, " +
				"roles = [specs.Role(name = \"r\", image = \"i\", entrypoint = \"true\")])\n"
			must(t, os.WriteFile(filepath.Join(dir, "x.star"), []byte(text), 0o600))
			got := torchx(t, dir, nil, "touch ran", "run", "--dryrun", "--json", "x.star:c")
			if got.code != program.ExitError {
				t.Errorf("exit code %d: %s", got.code, got.out)
			}
			oneClearLine(t, got)
			onlyFile(t, dir, "x.star")
		})
	}
	// Arguments that a shell would run are passed on unchanged.
	got := torchx(t, dir, nil, "", "run", "--dryrun", "--json", "utils.echo", "--msg", "$(touch ran) `touch ran`; touch ran")
	if got.code != program.ExitOK || !strings.Contains(got.out, "$(touch ran) `touch ran`; touch ran") {
		t.Errorf("exit code %d: %s", got.code, got.out)
	}
	if _, err := os.Lstat(filepath.Join(dir, "ran")); err == nil {
		t.Error("something was run")
	}
}

// onlyFile checks that a folder contains exactly one file.
func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the evaluation left %v", entries)
	}
}
