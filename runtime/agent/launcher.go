package agent

import (
	"context"
	"errors"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Launcher starts and ends replicas in one place (processes, containers). The
// agent's loop is its only caller; no method may block for long.
type Launcher interface {
	// Check tells whether every replica could start, before the first one does.
	// Errors: *RefusedError.
	Check() error
	// Start begins attempts and returns one answer for each, in their order. It gives
	// up when ctx ends: an app that is to end starts nothing more.
	Start(ctx context.Context, batch []Start) []Started
	// Terminate asks all of a running replica to end.
	Terminate(r spec.Replica)
	// Kill ends all of a running replica at once.
	Kill(r spec.Replica)
	// Exits delivers the end of every started attempt, once.
	Exits() <-chan Exit
	// ErrorFile returns the error file of an attempt as JSON, nil if it wrote none.
	ErrorFile(r spec.Replica, attempt int) []byte
	// Checkpoints returns the log checkpoints since the last call.
	Checkpoints() []Checkpoint
	// Ended is called with the app's final status, before that is published.
	Ended(s *spec.Status) error
	// Finish ends whatever replicas left behind (asked first, killed after the
	// grace period or when kill is closed), completes their logs and waits for both.
	Finish(grace time.Duration, kill <-chan struct{})
}

// Checkpoint is where a log was at some time, for the history.
type Checkpoint = history.Checkpoint

// Start is what a Launcher needs beside its own request to start an attempt.
type Start struct {
	Replica spec.Replica
	Attempt int
	Env     []string // added to the replica's environment, "K=V"
	// Line is called by the reader of the output with each line of either stream,
	// without its end, until it returns true. It does not keep the line and does not
	// block. nil: lines are not needed.
	Line func(line []byte) bool
}

// Started is what became of a Start.
type Started struct {
	Process Process
	Time    time.Time // when it began
	// Err is a *RefusedError if the attempt can never start, ErrNotTried if it was
	// left alone because the batch had failed or was given up by then.
	Err error
}

// ErrNotTried says that an attempt was not begun since its batch was given up.
var ErrNotTried = errors.New("not started: the app is to end")

// Adopter is a Launcher whose replicas outlive the agent (Manifest.Containers). Its
// Start finds what a former agent had begun but not recorded instead of beginning
// it twice.
type Adopter interface {
	// Adopt takes over replicas that are on record as running. Their exits come as
	// those of started ones do, also when they ended or vanished meanwhile.
	Adopt(running []Adoption)
}

// Adoption is a replica that a former agent started.
type Adoption struct {
	Replica spec.Replica
	Attempt int
	Process Process
	Time    time.Time // when it began
	// Line is that of Start; it is called with earlier output, too.
	Line func(line []byte) bool
}

// AddressFinder is a Launcher whose replicas may have addresses of their own.
type AddressFinder interface {
	// Reach returns where a port of a running replica can be connected to; none if
	// not known yet. Any goroutine may call it.
	Addresses(ctx context.Context, r spec.Replica, port int) []Address
}

// Address is where a port is reached.
type Address struct {
	HostPort string // "host:port"
	// Proxied: a proxy accepts connections to the port, and closes them at once if no
	// process listens.
	Proxied bool
}

// Process identifies a started replica across a restart of the agent.
type Process struct {
	PID       int    `json:"pid"`              // also its session and process group
	StartTime uint64 `json:"start_time"`       // in the unit of the system, only to be compared
	Cgroup    string `json:"cgroup,omitempty"` // folder of the control group of all its processes; "": none
	// Output names the pipes that it writes to, as /proc/PID/fd does. A process that has
	// one open was started by it, whatever its session and environment.
	Output   []string `json:"output,omitempty"`
	Hostname string   `json:"hostname,omitempty"`
	// ID is the backend's own name of what runs, such as a container's id. Engine tells
	// two lives of the engine apart that runs it. Both are opaque.
	ID     string `json:"id,omitempty"`
	Engine string `json:"engine,omitempty"`
}

// Exit is the end of an attempt.
type Exit struct {
	Replica spec.Replica
	Attempt int
	Time    time.Time
	Code    int    // 128+n for signal n
	Signal  string // "SIGKILL"
	Usage   *Usage // nil: not known
	// Msg says why it was killed or ended, to follow "replica r/0 failed first: "; "" if
	// not known.
	Msg string
	// Lost says that the engine ended the replica, not the app: whatever its code it did
	// not succeed, and a restart costs no retry.
	Lost bool
}

// Usage is what an attempt used of the machine: its own process and those below
// it that were waited for.
type Usage struct {
	MaxRSS int64   `json:"max_rss"`     // peak of the largest process, bytes
	CPU    float64 `json:"cpu_seconds"` // user and system
}

// ReplicaStartError says that a replica cannot start at all, and with which exit code of
// the shell's convention: 127 not found, 126 not executable, 125 anything else.
type ReplicaStartError struct {
	Replica spec.Replica
	Code    int
	Err     error
}

func (e *ReplicaStartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ReplicaStartError) Unwrap() error { return e.Err }
