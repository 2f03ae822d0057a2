package agent

import (
	"context"
	"errors"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/policy"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// Launcher starts and ends replicas of one kind (processes, containers). Only the agent's
// loop calls it; no method may block for long.
type Launcher interface {
	// Check reports whether every replica could start, before the first one does.
	// Errors: *ReplicaStartError.
	Check() error
	// Start starts attempts and returns one result for each, in their order. It stops
	// when ctx ends: an app that is ending starts nothing more.
	Start(ctx context.Context, batch []Start) []Started
	// Terminate asks all processes of a running replica to end.
	Terminate(r spec.Replica)
	// Kill kills all processes of a running replica.
	Kill(r spec.Replica)
	// Exits delivers the exit of every started attempt, once.
	Exits() <-chan Exit
	// ErrorFile returns the error file of an attempt as JSON, nil if it wrote none.
	ErrorFile(r spec.Replica, attempt int) []byte
	// Checkpoints returns the log checkpoints since the last call.
	Checkpoints() []Checkpoint
	// Ended is called with the app's final status, before that is published.
	Ended(s *spec.Status) error
	// Finish ends what replicas left running (terminated first, killed after the grace
	// period or when kill is closed), completes their logs and waits for both.
	Finish(grace time.Duration, kill <-chan struct{})
}

// Checkpoint is a log position at some time, for the history.
type Checkpoint = history.Checkpoint

// Start is an attempt to be started by a Launcher.
type Start struct {
	Replica spec.Replica
	Attempt int
	Env     []string // added to the replica's environment, "K=V"
	// Line is called by the reader of the output with each line of either stream,
	// without its end, until it returns true. It does not keep the line and does not
	// block. nil: lines are not needed.
	Line func(line []byte) bool
}

// Started is the result of a Start.
type Started struct {
	Process Process
	Time    time.Time // when it started
	// Err is a *ReplicaStartError if the attempt can never start, ErrNotTried if it was
	// skipped because the batch had failed or was aborted.
	Err error
}

// ErrNotTried means that an attempt was skipped because its batch was aborted.
var ErrNotTried = errors.New("not started: the app is ending")

// Adopter is a Launcher whose replicas outlive the agent (Manifest.Containers). Its Start
// does not start an attempt twice: it finds what a former agent had started but not
// recorded.
type Adopter interface {
	// Adopt takes over replicas that are recorded as running. Their exits are delivered
	// like any others, even if they ended or vanished meanwhile.
	Adopt(running []Adoption)
}

// Adoption is a replica that a former agent started.
type Adoption struct {
	Replica spec.Replica
	Attempt int
	Process Process
	Time    time.Time // when it started
	// Line is as in Start; it is also called with earlier output.
	Line func(line []byte) bool
}

// ConditionReporter is a Launcher whose replicas can be paused, or report their own health.
type ConditionReporter interface {
	// Conditions delivers the conditions of started attempts that differ from the zero value,
	// and then each change.
	Conditions() <-chan Condition
}

// Condition is what a launcher notices about an attempt that runs.
type Condition struct {
	Replica spec.Replica
	Attempt int
	Note    string // part of its message, such as that it is paused; "": nothing
	Healthy bool   // the check that its image declares passes
}

// AddressFinder is a Launcher whose replicas may have their own addresses.
type AddressFinder interface {
	// Addresses returns where a port of a running replica accepts connections; none if
	// not known yet. An error tells why this machine cannot reach the port at all. It is
	// safe for concurrent use.
	Addresses(ctx context.Context, r spec.Replica, port int) ([]Address, error)
}

// Address is where a port is reachable.
type Address struct {
	HostPort string // "host:port"
	// Proxied means that a proxy accepts connections to the port and closes them
	// immediately if no process listens.
	Proxied bool
}

// What launchers tell the policy.
type (
	// Process identifies a started replica.
	Process = policy.Process
	// Exit is how an attempt ended.
	Exit = policy.Exit
	// Usage is what an attempt used.
	Usage = policy.Usage
)

// Meter is a Launcher that measures what replicas use.
type Meter interface {
	// Measure returns a reading of each running attempt, in their order. The agent calls it from
	// one goroutine, not from its loop: it may block until ctx ends.
	Measure(ctx context.Context, running []Running) []sample.Reading
}

// Running is an attempt that has started.
type Running struct {
	Replica spec.Replica
	Attempt int
	Process Process
}

// ReplicaStartError means that a replica cannot start. Code is its exit code by the
// shell's convention: 127 not found, 126 not executable, 125 anything else.
type ReplicaStartError struct {
	Replica spec.Replica
	Code    int
	Err     error
}

func (e *ReplicaStartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ReplicaStartError) Unwrap() error { return e.Err }
