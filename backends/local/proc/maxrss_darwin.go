package proc

// maxrssUnit is what the kernel counts ru_maxrss in: bytes, getrusage(2).
const maxrssUnit = 1
