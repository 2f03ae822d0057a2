//go:build !linux

package collect

// lowPriority does nothing: this system has no priorities of threads.
func lowPriority() {}
