package spec

// Exit codes that torchx assigns to a replica and to `torchx run`, by the shell's convention.
// A process that was ended by signal n has ExitSignal + n.
const (
	ExitDeadline      = 124 // ran longer than its time limit, or was not ready in time; timeout(1) uses the same
	ExitNotStarted    = 125 // could not be started or supervised
	ExitNotExecutable = 126
	ExitNotFound      = 127
	ExitSignal        = 128
	ExitCancelled     = 130 // canceled, or interrupted by Ctrl-C
)
