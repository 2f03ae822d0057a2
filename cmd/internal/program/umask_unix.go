//go:build unix

package program

import (
	"syscall"
)

// KeepOwnerAccess lets the owner use the files that this program creates: no app could run under a
// umask that forbids it. Group and others get no more rights. Replicas inherit the umask.
func KeepOwnerAccess() {
	old := syscall.Umask(0o077) // a umask can only be read by setting it
	syscall.Umask(old &^ 0o700)
}
