//go:build !unix

package program

// KeepOwnerAccess does nothing on systems without a umask.
func KeepOwnerAccess() {}
