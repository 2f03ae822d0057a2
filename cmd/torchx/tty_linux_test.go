package main

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"torchx/cmd/internal/program"
	"torchx/runtime/agent"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// onTTY starts an app with --tty on its own terminal.
func onTTY(t *testing.T, dir, line string, flags ...string) *session {
	t.Helper()
	args := append([]string{"run", "--tty"}, flags...)
	s := begin(t, filepath.Join(dir, "home"), true, append(args, "utils.sh", "-c", line)...)
	t.Cleanup(func() { torchx(t, dir, nil, "", "delete", "-f", "-") })
	return s
}

// end waits for the end of a session and checks that the terminal is restored.
func (s *session) end(code int, says string) {
	s.t.Helper()
	if got := s.wait(); got != code {
		s.t.Errorf("exit code %d, want %d: %q", got, code, s.shown)
	}
	if !strings.Contains(s.shown.String(), says) {
		s.t.Errorf("no %q in %q", says, s.shown)
	}
	if s.after == nil || *s.after != s.before {
		s.t.Error("the terminal is not in the mode it was in")
	}
}

// untilSize is a shell line that waits until the terminal has a size, and prints it: the new size of
// the window arrives apart from what is typed.
func untilSize(size string) string {
	return `until [ "$(stty size)" = "` + size + `" ]; do sleep 0.02; done; stty size`
}

// resize changes the size of the window.
func (s *session) resize(rows, cols uint16) {
	must(s.t, unix.IoctlSetWinsize(int(s.screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}))
	must(s.t, syscall.Kill(os.Getpid(), syscall.SIGWINCH)) // the tests have no window that sends it
}

// ttyLog returns all output of the most recent app on its terminal.
func ttyLog(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "home", "apps", "*", "replicas", "*", "0", "*", "stdout.log"))
	must(t, err)
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		must(t, err)
		all.Write(data)
	}
	return all.String()
}

// TestTTYSession: a user runs a shell, detaches, attaches again and ends it.
func TestTTYSession(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	s := onTTY(t, dir, "PS1='> ' exec sh -i")
	s.shown.waitFor("detaches and leaves the app running")
	s.typed("echo $((6*7)) $TERM\r")
	s.shown.waitFor("42 xterm\r\n")
	s.typed("stty size\r")
	s.shown.waitFor("24 100\r\n")
	s.resize(31, 91)
	s.typed(untilSize("31 91") + "; sh -c 'echo started; exec sleep 300'\r") // in the foreground already
	s.shown.waitFor("31 91\r\n")
	s.shown.waitFor("\r\nstarted\r\n")
	s.typed("\x03")
	s.typed("echo ali''ve; printf 'a\\rb\\033[1m\\n'\r")
	s.shown.waitFor("alive\r\n")
	s.shown.waitFor("a\rb\x1b[1m\r\n")
	s.typed("\x10")
	s.typed("\x11")
	s.end(program.ExitOK, "keeps running: torchx attach --tty local://torchx/sh-")
	if !strings.Contains(s.shown.String(), strings.TrimSuffix(ttyLog(t, dir), "> ")) {
		t.Errorf("shown %q, in the log %q", s.shown, ttyLog(t, dir))
	}

	again := begin(t, filepath.Join(dir, "home"), true, "attach", "--tty", "--detach-keys", "ctrl-]", "-")
	again.shown.waitFor("ctrl-] detaches")
	again.shown.waitFor("alive\r\n")
	again.typed(untilSize("24 100") + "\r")
	again.shown.waitFor("24 100\r\n")
	again.typed("exit 7\r")
	again.end(7, "FAILED: exit code 7")
	if r := torchx(t, dir, nil, "", "log", "-/sh/0"); !strings.Contains(r.out, "a\rb\x1b[1m\r\n") || r.out != ttyLog(t, dir) {
		t.Errorf("%+v", r)
	}
	done := begin(t, filepath.Join(dir, "home"), true, "attach", "--tty", "-")
	done.end(7, "FAILED: exit code 7")
}

// TestTTYSignals: signals from outside, not from keys.
func TestTTYSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attach bool
		signal os.Signal
		code   int
		left   string
	}{
		"run and SIGHUP":     {false, syscall.SIGHUP, program.ExitHangup, "RUNNING"},
		"run and SIGTERM":    {false, syscall.SIGTERM, spec.ExitCancelled, "CANCELLED"},
		"attach and SIGHUP":  {true, syscall.SIGHUP, program.ExitHangup, "RUNNING"},
		"attach and SIGTERM": {true, syscall.SIGTERM, spec.ExitCancelled, "RUNNING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			s := onTTY(t, dir, "PS1=ready exec sh -i", "-cfg", "grace_period=100")
			s.shown.waitFor("ready")
			if c.attach {
				s.typed("\x10\x11")
				s.end(program.ExitOK, "keeps running")
				s = begin(t, filepath.Join(dir, "home"), true, "attach", "--tty", "-")
				s.shown.waitFor("ready")
			}
			s.signals <- c.signal
			s.end(c.code, "")
			if r := torchx(t, dir, nil, "", "status", "-"); !strings.Contains(r.out, "State: "+c.left) {
				t.Errorf("%s", r.out)
			}
		})
	}
}

// TestTTYAgentKilled: no process is left, and the terminal is restored.
func TestTTYAgentKilled(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	s := onTTY(t, dir, "trap '' HUP; sh -c 'trap \"\" HUP; echo child $$; sleep 300'")
	s.shown.waitFor("child ")
	s.shown.waitFor("\r\n")
	bundles, err := agent.List(filepath.Join(dir, "home"))
	must(t, err)
	st, err := bundles[0].Status()
	must(t, err)
	leader := st.Roles[0].Replicas[0].PID
	must(t, syscall.Kill(agentOf(t, bundles[0]), syscall.SIGKILL))
	s.end(spec.ExitNotStarted, "agent died")
	for _, p := range procs.List() {
		if p.Session == leader && !p.Zombie {
			t.Errorf("%+v is left", p)
		}
	}
}

// TestTTYWithoutTerminal: piped input is forwarded, including EOF.
func TestTTYWithoutTerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, stdin, shows string }{
		"lines":            {"cat; stty size", "one\ntwo\n", "one\r\ntwo\r\n24 80\r\n"},
		"no last line end": {"cat; echo; exit 0", "half", "half\r\n"},
		"no input":         {"cat; echo end", "", "end\r\n"},
		"two readers":      {"cat >/dev/null; cat; echo end", "x\n", "end\r\n"},
		"slow to begin":    {"sleep 0.3; stty -icanon; stty icanon; cat; echo end", "late\n", "end\r\n"},
		"password":         {"stty -echo; echo prompt; read p; stty echo; echo got ${#p}", "", "got 0\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			r := torchx(t, dir, nil, c.stdin, "run", "--tty", "utils.sh", "-c", c.line)
			if r.code != program.ExitOK || !strings.Contains(r.err, c.shows) || strings.Count(r.out, "\n") != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestTTYLargeInput: a paste larger than all buffers arrives completely at a slow reader.
func TestTTYLargeInput(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	sum := sha256.Sum256(data)
	// The EOF of a pipe follows it, which is more input for a raw terminal.
	line := "stty raw -echo; echo prepared; sleep 0.3; (dd bs=1 count=1000 2>/dev/null; sleep 0.2; head -c 1047576) | sha256sum"
	handle := strings.TrimSpace(torchx(t, dir, nil, "", "run", "--tty", "-d", "utils.sh", "-c", line).out)
	begin(t, filepath.Join(dir, "home"), false, "log", "-t", handle+"/sh/0").shown.waitFor("prepared")
	r := torchx(t, dir, nil, string(data), "attach", "--tty", "-")
	if want := hex.EncodeToString(sum[:]); r.code != program.ExitOK || !strings.Contains(r.out, want) {
		t.Errorf("%+v, want %s", r, want)
	}
}

// TestTTYFlood: every byte is in the log, whether a client keeps up or not.
func TestTTYFlood(t *testing.T) {
	t.Parallel()
	const size = 30 << 20
	dir := caseDir(t)
	s := onTTY(t, dir, "head -c 31457280 /dev/zero | tr '\\0' x; echo; echo finished")
	s.end(program.ExitOK, "finished\r\n")
	if got := ttyLog(t, dir); len(got) != size+len("\r\nfinished\r\n") || strings.Count(got, "x") != size {
		t.Errorf("%d bytes", len(got))
	}
}

// TestTTYRetry: the client continues with the next attempt, which has a new terminal.
func TestTTYRetry(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	must(t, os.WriteFile(filepath.Join(dir, "retry.star"), []byte(`
def comp(line):
    """Runs a line up to twice

    Args:
        line: shell
    """
    return specs.AppDef(name = "retry", roles = [specs.Role(name = "r", image = "", entrypoint = "sh", args = ["-c", line],
        max_retries = 1, resource = specs.resource(cpu = 1, memMB = 1))])
`), 0o600))
	s := begin(t, filepath.Join(dir, "home"), true, "run", "--tty", "retry.star:comp", "--line",
		"test ! -e again || { "+untilSize("20 70")+"; }; stty size; read x; test -e again && exit 0; touch again; echo first $x; exit 1")
	s.shown.waitFor("24 100")
	s.resize(20, 70)
	s.typed("one\r")
	s.shown.waitFor("first one")
	s.shown.waitFor("torchx: attempt 1 of the replica starts\r\n")
	s.shown.waitFor("20 70")
	s.typed("two\r")
	s.end(program.ExitOK, "SUCCEEDED")
}

// TestTTYPassword: input that the program does not echo is not in any file.
func TestTTYPassword(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	s := onTTY(t, dir, "stty -echo; printf 'Password: '; read p; stty echo; echo; echo got ${#p}")
	s.shown.waitFor("Password: ")
	s.typed("hunter2-secret\r")
	s.end(program.ExitOK, "got 14\r\n")
	must(t, filepath.WalkDir(filepath.Join(dir, "home"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "hunter2-secret") {
			t.Errorf("it is in %s", path)
		}
		return err
	}))
}

// TestTTYKeysWhileStuck: the detach keys work while the program does not read.
func TestTTYKeysWhileStuck(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	s := onTTY(t, dir, "stty raw -echo; echo ready; exec sleep 300")
	s.shown.waitFor("ready")
	paste := strings.Repeat("0123456789abcdef", 16)
	for range 2000 {
		s.typed(paste)
	}
	s.typed("\x10\x11")
	s.end(program.ExitOK, "keeps running")
	started := time.Now()
	if r := torchx(t, dir, nil, "", "cancel", "--wait", "-"); r.code != program.ExitOK && r.code != spec.ExitCancelled || time.Since(started) > 9*time.Second {
		t.Errorf("%+v after %v", r, time.Since(started))
	}
}
