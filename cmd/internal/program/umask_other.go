//go:build !unix

package program

// OwnUmask does nothing on systems without a umask.
func OwnUmask() {}
