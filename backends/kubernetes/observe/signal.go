package observe

import (
	"strconv"
	"torchx/runtime/spec"
)

// signals are those of Linux on x86 and ARM by their number (signal(7)): nodes run
// it, whatever runs torchx.
var signals = [...]string{
	"", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

// lastSignal is SIGRTMAX.
const lastSignal = 64

// signalName is the signal that an exit code stands for, "" for a plain one.
func signalName(code int) string {
	n := code - spec.ExitSignal
	switch {
	case n <= 0 || n > lastSignal:
		return ""
	case n < len(signals):
		return signals[n]
	}
	return "SIG" + strconv.Itoa(n)
}
