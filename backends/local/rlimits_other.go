//go:build !linux

package local

// rlimits tells whether a limit of a process's memory is honoured here: macOS
// takes one and does nothing.
const rlimits = false
