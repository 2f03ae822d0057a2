//go:build !unix

package main

// ownUmask does nothing where there is no umask.
func ownUmask() {}
