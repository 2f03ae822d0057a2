//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"torchx/test/homedir"
)

const watchedComponent = `
load("./lib.star", "MSG")

def app():
    """Prints a message and waits."""
    return specs.AppDef(name = "app", roles = [specs.Role(
        name = "r", image = "", entrypoint = "sh",
        args = ["-c", "echo 'says %s'; trap 'echo bye; exit 0' TERM; sleep 600 & wait" % MSG],
    )])
`

// startWatch runs the component in a project and waits for its first output.
func startWatch(t *testing.T) (f *foreground, write func(name, text string)) {
	t.Helper()
	dir := homedir.New(t)
	write = func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for name, text := range map[string]string{
		"t.star": watchedComponent, "lib.star": `MSG = "one"`, ".torchxconfig": "", ".torchxignore": "*.log\n", "model.py": "",
	} {
		write(name, text)
	}
	f = &foreground{t: t, home: homedir.New(t), err: newWatched(t)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	f.cmd = exec.CommandContext(ctx, "torchx", "run", "--watch", "-cfg", "grace_period=30", "t.star:app")
	f.cmd.Dir, f.cmd.Stderr = dir, f.err
	f.cmd.Env = append(os.Environ(), "TORCHX_HOME="+f.home, "HOME="+f.home, "GORACE=atexit_sleep_ms=0")
	must(t, f.cmd.Start())
	f.err.waitFor("r/0 says one\n")
	t.Cleanup(func() { f.torchx("cancel", "--all", "--force", "--wait") })
	return f, write
}

// TestWatch changes what a run reads, in the ways of editors and git: each change ends the app first
// and starts one run, a mistake is shown, and ignored files do nothing.
func TestWatch(t *testing.T) {
	t.Parallel()
	f, write := startWatch(t)
	write("lib.star.tmp", `MSG = "two"`)
	must(t, os.Rename(filepath.Join(f.cmd.Dir, "lib.star.tmp"), filepath.Join(f.cmd.Dir, "lib.star")))
	f.err.waitFor("r/0 says two\n")
	for _, text := range []string{"torchx: lib.star changed: ending the app to run it again\n", "r/0 bye\n", ": CANCELLED"} {
		f.err.waitFor(text)
	}
	write("run.log", "ignored")
	write("lib.star", `MSG = three(`)
	f.err.waitFor("lib.star:1:12: '(' is never closed")
	f.err.waitFor("torchx: watching 5 files (workspace ")
	write("lib.star", `MSG = "three"`)
	f.err.waitFor("torchx: lib.star changed: running again\n")
	f.err.waitFor("r/0 says three\n")
	write("model.py", "print(1)")
	write("new.py", "print(2)")
	f.err.waitFor("torchx: model.py and 1 more changed: ending the app to run it again\n")
	f.err.waitForAll("r/0 says three\n", 2)
	f.signal(syscall.SIGINT)
	if code := f.wait(); code != 130 {
		t.Errorf("exit code: got %d, want 130", code)
	}
	if strings.Contains(f.err.String(), "run.log") {
		t.Errorf("an ignored file started a run:\n%s", f.err)
	}
	if got := f.torchx("list", "--all"); strings.Count(got, "CANCELLED") != 4 || strings.Contains(got, "RUNNING") {
		t.Errorf("got\n%s\nwant 4 canceled apps", got)
	}
}

// TestWatchHangup: when the terminal closes, the watch ends and the app runs on.
func TestWatchHangup(t *testing.T) {
	t.Parallel()
	f, _ := startWatch(t)
	f.signal(syscall.SIGHUP)
	f.wait()
	if got := f.torchx("list"); !strings.Contains(got, "RUNNING") {
		t.Errorf("got\n%s\nwant the app to run", got)
	}
}

func TestWatchRefusals(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"run --watch -d utils.echo":            "--watch cannot be used with --detach",
		"run --watch --dryrun utils.echo":      "--watch cannot be used with --dryrun",
		"run --watch --json utils.echo":        "--watch cannot be used with --json",
		"run --watch --tty utils.echo":         "--watch cannot be used with --tty",
		"run --watch --stdin":                  "--watch cannot be used with --stdin",
		"run --watch utils.echo":               "has nothing to watch",
		"run --watch none.star:app":            "does not exist",
		"run --watch -b kubernetes utils.echo": "--watch needs --log or --wait on kubernetes",
		"sweep --watch utils.echo --msg a":     "`torchx run --watch COMPONENT`",
	} {
		home := homedir.New(t)
		cmd := exec.CommandContext(t.Context(), "torchx", strings.Fields(args)...)
		cmd.Dir, cmd.Env = home, append(os.Environ(), "TORCHX_HOME="+home, "HOME="+home)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: got %v %s, want %q", args, err, out, want)
		}
	}
}
