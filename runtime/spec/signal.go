package spec

import "strconv"

// signals lists the signals of Linux on x86 and ARM by number (signal(7)): machines of a cluster
// run Linux, also if torchx runs elsewhere.
var signals = [...]string{
	"", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

// lastSignal is SIGRTMAX.
const lastSignal = 64

// SignalName returns the signal of Linux that an exit code stands for (128+n for signal n), "" if
// it stands for none.
func SignalName(code int) string {
	n := code - ExitSignal
	switch {
	case n <= 0 || n > lastSignal:
		return ""
	case n < len(signals):
		return signals[n]
	}
	return "SIG" + strconv.Itoa(n)
}
