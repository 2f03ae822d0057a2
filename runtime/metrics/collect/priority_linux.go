package collect

import "golang.org/x/sys/unix"

// lowPriority lets everything else on this machine go before the calling thread.
func lowPriority() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 10) // best effort
}
