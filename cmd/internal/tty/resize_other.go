//go:build !unix

package tty

import "os"

// Resizes returns nil: this system does not report changes of the size.
func Resizes() (c <-chan os.Signal, stop func()) { return nil, func() {} }
