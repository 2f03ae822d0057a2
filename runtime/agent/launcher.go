package agent

import (
	"time"

	"torchx/runtime/spec"
	"torchx/state"
)

// Launcher starts and ends replicas in one place (processes, containers). The
// agent's loop is its only caller; no method may block for long.
type Launcher interface {
	// Check tells whether every replica could start, before the first one does.
	// Errors: *RefusedError.
	Check() error
	// Start begins an attempt. Errors: *RefusedError if it can never start.
	Start(s Start) (Process, error)
	// Terminate asks all of a running replica to end.
	Terminate(r spec.Replica)
	// Kill ends all of a running replica at once.
	Kill(r spec.Replica)
	// Exits hands out the end of every started attempt, once.
	Exits() <-chan Exit
	// ErrorFile returns the error file of an attempt as JSON, nil if it wrote none.
	ErrorFile(r spec.Replica, attempt int) []byte
	// Checkpoints hands out the log checkpoints that came since the last call.
	Checkpoints() []Checkpoint
	// Ended is called with the app's final status, before that is published.
	Ended(s *spec.Status) error
	// Finish ends whatever replicas left behind (asked first, killed after the
	// grace period or when kill is closed), completes their logs and waits for both.
	Finish(grace time.Duration, kill <-chan struct{})
}

// Checkpoint is where a log was at some time, for the history.
type Checkpoint = state.Checkpoint

// Start is what a Launcher needs beside its own request to start an attempt.
type Start struct {
	Replica spec.Replica
	Attempt int
	Env     []string // added to the replica's environment, "K=V"
	// Line is to be called with each line of output (either stream, without its end),
	// by whoever reads it, until it returns true. It does not keep the line and does
	// not block. nil: nobody wants lines.
	Line func(line []byte) bool
}

// Process identifies a started replica across a restart of the agent.
type Process struct {
	PID       int
	StartTime uint64 // in the unit of the system, only to be compared
	Hostname  string
	Cgroup    string // folder of the control group it alone is in; "": none
}

// Exit is the end of an attempt.
type Exit struct {
	Replica spec.Replica
	Attempt int
	Time    time.Time
	Code    int    // 128+n for signal n
	Signal  string // "SIGKILL"
	Usage   *Usage // nil: not known
	Msg     string // why it was killed, to stand behind "replica r/0 failed first: "; "": nothing to say
}

// Usage is what an attempt used of the machine: its own process and those below
// it that were waited for.
type Usage struct {
	MaxRSS int64   `json:"max_rss"`     // peak of the largest process, bytes
	CPU    float64 `json:"cpu_seconds"` // user and system
}

// RefusedError says that a replica cannot start at all, and with which exit code of
// the shell's convention: 127 not found, 126 not executable, 125 anything else.
type RefusedError struct {
	Replica spec.Replica
	Code    int
	Err     error
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }
