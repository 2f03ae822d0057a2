//go:build unix && !linux && !darwin

package proc

// maxrssUnit is what the kernel counts ru_maxrss in: KiB, getrusage(2).
const maxrssUnit = 1024
