//go:build !unix

package safefile

// This system has no such flags; open checks the file first.
const (
	noFollow = 0
	nonblock = 0
)
