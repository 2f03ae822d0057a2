package spec

import (
	"fmt"
	"time"
)

// Restart is a restart after the failure of a replica.
type Restart struct {
	Time     time.Time   `json:"time"` // time of the failure
	Role     string      `json:"role"`
	Replica  int         `json:"replica"`
	Attempt  int         `json:"attempt"` // the failed attempt, from 0
	ExitCode *int        `json:"exit_code"`
	Signal   string      `json:"signal,omitempty"`
	Msg      string      `json:"msg,omitempty"`
	Policy   RetryPolicy `json:"policy"` // determines what restarts

	// Retry is the number of this restart, from 1, of MaxRetries. A restart of a replica
	// that the engine ended is free and does not increase Retry. 0 of 0 means unknown.
	Retry      int  `json:"retry"`
	MaxRetries int  `json:"max_retries"`
	Free       bool `json:"free,omitempty"`
}

// RestartOf returns the restart that follows the failed attempt f.
func RestartOf(f *ReplicaStatus, policy RetryPolicy, retry, maxRetries int) Restart {
	r := Restart{
		Role: f.Role, Replica: f.ID, Attempt: f.Attempt, ExitCode: f.ExitCode, Signal: f.Signal, Msg: f.Msg,
		Policy: policy, Retry: retry, MaxRetries: maxRetries,
	}
	if f.FinishedAt != nil {
		r.Time = *f.FinishedAt
	}
	return r
}

// String returns one line: `train/0 failed (exit code 7): attempt 2 of 2, restarting the app`.
func (r Restart) String() string {
	if r.Free && r.ExitCode == nil && r.Msg != "" {
		return fmt.Sprintf("%s/%d: %s", r.Role, r.Replica, r.Event())
	}
	return fmt.Sprintf("%s/%d failed (%s): %s", r.Role, r.Replica, r.how(), r.Next())
}

// Event returns the restart without the replica that ended: `attempt 2 of 2, restarting the
// app`, after what ended the replica from outside.
func (r Restart) Event() string {
	if r.Free && r.Msg != "" {
		return r.Msg + ": " + r.Next()
	}
	return r.Next()
}

// how describes the end of the attempt.
func (r Restart) how() string {
	how := "result unknown"
	if r.ExitCode != nil {
		how = fmt.Sprintf("exit code %d", *r.ExitCode)
	}
	for _, more := range []string{r.Signal, r.Msg} {
		if more != "" {
			how += ", " + more
		}
	}
	return how
}

// Next describes the restart: `attempt 2 of 2, restarting the app`.
func (r Restart) Next() string {
	what := map[RetryPolicy]string{
		RetryReplica: fmt.Sprintf("%s/%d", r.Role, r.Replica), RetryRole: "role " + r.Role, RetryApplication: "the app",
	}[r.Policy]
	switch {
	case r.MaxRetries == 0:
		return "restarting " + what
	case r.Free:
		return fmt.Sprintf("attempt %d of %d again, restarting %s", r.Retry+1, r.MaxRetries+1, what)
	}
	return fmt.Sprintf("attempt %d of %d, restarting %s", r.Retry+1, r.MaxRetries+1, what)
}

// Restarts reports whether the restart includes a replica.
func (r Restart) Restarts(one Replica) bool {
	switch r.Policy {
	case RetryReplica:
		return one == Replica{r.Role, r.Replica}
	case RetryRole:
		return one.Role == r.Role
	}
	return true
}
