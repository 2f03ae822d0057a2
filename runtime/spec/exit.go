package spec

// Exit codes of a replica, and of `torchx run`, that torchx itself assigns; they follow
// the shell's convention. A process that signal n ended exits with ExitSignal + n.
const (
	ExitNotStarted    = 125 // torchx could not start or supervise it
	ExitNotExecutable = 126
	ExitNotFound      = 127
	ExitSignal        = 128
	ExitCancelled     = 130 // cancelled, or interrupted by Ctrl-C
)
