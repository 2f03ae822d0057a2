package backendtest

import (
	"fmt"
	"strconv"
	"time"
)

// Programs are the programs that the suite starts. Each method returns an entry point and
// its arguments, in which macros are replaced.
type Programs interface {
	// Echo prints the text and a newline.
	Echo(text string) (string, []string)
	// Print prints the text without a newline.
	Print(text string) (string, []string)
	// Env prints the value of a variable and a newline.
	Env(name string) (string, []string)
	// Exit exits with a code.
	Exit(code int) (string, []string)
	// FailWith prints the text without a newline and exits with a code.
	FailWith(text string, code int) (string, []string)
	// Sleep exits with 0 after d, and soon after SIGTERM.
	Sleep(d time.Duration) (string, []string)
	// Lines prints "line 1" … "line n", odd ones to stdout, even ones to stderr, with a
	// pause after each.
	Lines(n int, pause time.Duration) (string, []string)
	// IgnoreTerm ignores SIGTERM, prints "ready" and runs until it is killed.
	IgnoreTerm() (string, []string)
	// Die is ended by SIGKILL.
	Die() (string, []string)
}

// Shell implements Programs with a POSIX shell and the usual commands, on this machine or
// in a small container image. There a script is process 1, which ignores signals without a
// trap.
type Shell struct{}

var _ Programs = Shell{}

// A dollar that macros would replace is written twice.

// Echo is echo.
func (Shell) Echo(text string) (string, []string) { return "echo", []string{text} }

// Print is printf.
func (Shell) Print(text string) (string, []string) { return "printf", []string{"%s", text} }

// Env is printenv.
func (Shell) Env(name string) (string, []string) { return "printenv", []string{name} }

// Exit is a shell's exit.
func (Shell) Exit(code int) (string, []string) { return script("exit " + strconv.Itoa(code)) }

// FailWith prints and exits.
func (Shell) FailWith(text string, code int) (string, []string) {
	return "sh", []string{"-c", "printf %s \"$1\"; exit " + strconv.Itoa(code), "sh", text}
}

// Sleep waits in a way that a signal interrupts.
func (Shell) Sleep(d time.Duration) (string, []string) {
	return script(fmt.Sprintf(`trap 'kill $pid; exit 143' TERM; sleep %v & pid=$!; wait $pid`, d.Seconds()))
}

// Lines is a loop.
func (Shell) Lines(n int, pause time.Duration) (string, []string) {
	wait := ""
	if pause > 0 {
		wait = fmt.Sprintf("sleep %v; ", pause.Seconds())
	}
	return script(fmt.Sprintf(
		`i=0; while [ $i -lt %d ]; do i=$((i+1)); if [ $((i%%2)) = 1 ]; then echo "line $i"; else echo "line $i" >&2; fi; %sdone`, n, wait))
}

// IgnoreTerm has children that ignore it, too.
func (Shell) IgnoreTerm() (string, []string) {
	return script(`trap '' TERM; echo ready; while :; do sleep 1; done`)
}

// Die kills itself, or as process 1, which cannot, a child shell. The exit prevents the
// child from replacing process 1.
func (Shell) Die() (string, []string) {
	return script(`kill -KILL $$$$; sh -c 'kill -KILL $$$$'; exit $?`)
}

func script(text string) (string, []string) { return "sh", []string{"-c", text} }
