//go:build !unix

package program

// OwnUmask does nothing where there is no umask.
func OwnUmask() {}
