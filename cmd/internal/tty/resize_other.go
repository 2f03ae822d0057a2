//go:build !unix

package tty

import "os"

// Resizes: this system does not tell; the next look sees the new size.
func Resizes() (c <-chan os.Signal, stop func()) { return nil, func() {} }
