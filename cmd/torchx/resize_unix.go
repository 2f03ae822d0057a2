//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// resizes tells of changes of the terminal's size until stop is called.
func resizes() (c <-chan os.Signal, stop func()) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	return changed, func() { signal.Stop(changed) }
}
