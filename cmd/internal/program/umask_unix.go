//go:build unix

package program

import (
	"syscall"
)

// OwnUmask gives this program's owner the use of the files it makes: under a
// umask that takes that away no app could be run. Nobody else gets more. It
// goes to the replicas too.
func OwnUmask() {
	old := syscall.Umask(0o077) // the only way to ask is to set it
	syscall.Umask(old &^ 0o700)
}
