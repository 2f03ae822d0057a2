package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"torchx/backends/all"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// openTerminal returns both ends of a pseudo-terminal of 80x24: the programs' side and the
// user's.
func openTerminal(t *testing.T) (pts, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { screen.Close() })
	must(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	must(t, err)
	pts, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	must(t, unix.IoctlSetWinsize(int(pts.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	return pts, screen
}

func TestColorsOnATerminalOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vars  []string
		args  []string
		color bool
	}{
		{nil, []string{"runopts"}, true},
		{[]string{"NO_COLOR=1"}, []string{"runopts"}, false},
		{[]string{"NO_COLOR="}, []string{"runopts"}, true},
		{[]string{"TERM=dumb"}, []string{"runopts"}, false},
		{nil, []string{"--no-color", "runopts"}, false},
	} {
		if shown := onTerminal(t, c.vars, c.args); strings.Contains(shown, "\x1b[") != c.color {
			t.Errorf("%v %v: %q", c.vars, c.args, shown)
		}
	}
	if r := torchx(t, t.TempDir(), nil, "", "runopts"); strings.Contains(r.out, "\x1b") {
		t.Errorf("got color without a terminal: %q", r.out)
	}
}

// TestOverviewOnATerminal: the overview leaves a line of a terminal of 80x24 for the prompt.
func TestOverviewOnATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}} {
		lines := strings.Split(onTerminal(t, nil, args), "\r\n")
		if len(lines) > 24 || lines[len(lines)-1] != "" {
			t.Errorf("%v: got %d lines, want at most 23 and the line of the prompt", args, len(lines))
		}
		for _, line := range lines {
			if n := ui.TextWidth(line); n > 80 {
				t.Errorf("%v: got %d columns, want at most 80: %s", args, n, line)
			}
		}
	}
}

// onTerminal returns what a command prints on a terminal.
func onTerminal(t *testing.T, vars, args []string) string {
	t.Helper()
	pts, screen := openTerminal(t)
	env := program.Environment{Vars: append([]string{"HOME=" + t.TempDir()}, vars...), Dir: t.TempDir(), Registry: all.New}
	shown := make(chan string)
	go func() {
		var b strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := screen.Read(buf)
			b.Write(buf[:n])
			if err != nil { // EIO: the pts's end is closed
				shown <- b.String()
				return
			}
		}
	}()
	code := program.Run(t.Context(), append([]string{"torchx"}, args...), ui.Streams{In: pts, Out: pts, Err: pts}, env, torchxProgram())
	must(t, pts.Close())
	if code != program.ExitOK {
		t.Errorf("%v: exit code %d", args, code)
	}
	return <-shown
}
