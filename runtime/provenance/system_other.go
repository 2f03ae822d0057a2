//go:build !linux

package provenance

// limitMemory does nothing: other systems cannot limit a running process.
func limitMemory(int) {}

// Yield does nothing: git is short there, too.
func Yield(int) {}
