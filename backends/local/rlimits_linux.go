package local

// rlimits tells whether a limit of a process's memory is honoured here.
const rlimits = true
