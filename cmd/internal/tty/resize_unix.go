//go:build unix

package tty

import (
	"os"
	"os/signal"
	"syscall"
)

// Resizes tells of changes of the terminal's size until stop is called.
func Resizes() (c <-chan os.Signal, stop func()) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	return changed, func() { signal.Stop(changed) }
}
