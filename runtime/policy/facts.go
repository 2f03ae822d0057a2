package policy

import (
	"time"

	"torchx/runtime/spec"
)

// Process identifies a started replica after a restart of the agent.
type Process struct {
	PID       int    `json:"pid"`              // also the ID of its session and process group
	StartTime uint64 `json:"start_time"`       // in units of the system, for comparison only
	Cgroup    string `json:"cgroup,omitempty"` // folder of its control group; "": none
	// Output names the pipes that it writes to, as /proc/PID/fd does. A process that has
	// one open was started by the replica, whatever its session and environment.
	Output   []string `json:"output,omitempty"`
	Hostname string   `json:"hostname,omitempty"`
	// ID is the backend's name of the replica, such as a container's ID. Engine changes
	// when the engine that runs it restarts. Both are opaque.
	ID     string `json:"id,omitempty"`
	Engine string `json:"engine,omitempty"`
}

// Exit is how an attempt ended.
type Exit struct {
	Replica spec.Replica
	Attempt int
	Time    time.Time
	Code    int    // 128+n for signal n
	Signal  string // "SIGKILL"
	Usage   *Usage // nil: not known
	// Msg says why it was killed or ended; it follows "replica r/0 failed first: ". It
	// is "" if not known.
	Msg string
	// Overran means that the agent ended the attempt because it exceeded the timeout of its
	// role. Launchers leave it unset.
	Overran bool
	// Lost means that the engine ended the replica: whatever its exit code, it did not
	// succeed, and a restart does not count as a retry.
	Lost bool
}

// Usage is what an attempt used. Records of older agents have no Source: MaxRSS is the kernel's
// peak of the largest process, or of this program if that was larger.
type Usage struct {
	MaxRSS int64    `json:"max_rss,omitempty"`        // peak of the memory in bytes; 0: unknown
	Source string   `json:"max_rss_source,omitempty"` // of MaxRSS, a source of package sample
	CPU    *float64 `json:"cpu_seconds,omitempty"`    // user and system, of processes that were waited for
}
