package policy

import (
	"time"

	"torchx/runtime/spec"
)

// Replica is one replica of a role.
type Replica struct {
	Key     spec.Replica
	Role    *spec.Role
	Devices []string   // assigned exclusively
	State   spec.State // Pending (to be started), Running or terminal

	nextStart
	lastAttempt
}

// nextStart describes the start that a pending replica waits for.
type nextStart struct {
	NextAttempt  int           // the attempt to start, or the running one
	restartGroup *restartGroup // of the start; nil: first start
	blocked      bool          // its role waits for another, or it for replicas of its role
	admitted     bool          // counted for max_parallel
	restarts     int
}

// lastAttempt describes the last attempt that started.
type lastAttempt struct {
	Attempt     int
	hasStarted  bool
	Process     Process
	StartedAt   *time.Time
	ready       bool   // it has passed its probe
	Unreachable string // why this machine cannot reach the port of its probe; "": it may
	Note        string // what its launcher noticed while it runs, such as that it is paused
	Stopping    bool   // asked to end by the policy
	retired     bool   // a sidecar asked to end because all other roles succeeded
	KillReason  string // why it was ended: not ready in time, its timeout, or out of memory
	Overran     bool   // it exceeded the timeout of its role
	result
}

// result is how an attempt ended.
type result struct {
	ExitCode   *int
	signal     string
	Msg        string
	finishedAt *time.Time
	ErrorFile  []byte
	Usage      *Usage
}

func (r *Replica) end(s spec.State, code int, signal string, now time.Time) {
	r.State, r.ExitCode, r.signal, r.finishedAt, r.Stopping = s, &code, signal, &now, false
}

// stop returns the action that stops the replica if it runs.
func (r *Replica) stop() []Action {
	if r.State != spec.Running || r.Stopping {
		return nil
	}
	r.Stopping = true
	return []Action{{Stop: r}}
}

func (r *Replica) status() spec.ReplicaStatus {
	s := spec.ReplicaStatus{
		ID: r.Key.ID, Role: r.Key.Role, State: r.State, ExitCode: r.ExitCode, Signal: r.signal,
		Attempt: r.Attempt, Hostname: r.Process.Hostname, StartedAt: r.StartedAt, FinishedAt: r.finishedAt,
		Msg: r.Msg, StructuredErrorMsg: r.ErrorFile, PID: r.Process.PID,
		Devices: r.Devices,
	}
	if u := r.Usage; u != nil {
		s.CPUSeconds = u.CPU
		if u.MaxRSS > 0 {
			s.MaxRSSBytes, s.MaxRSSSource = &u.MaxRSS, u.Source
		}
	}
	return s
}
