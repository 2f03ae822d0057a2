//go:build unix

package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// successFile is the file that TorchX writes into an app's log folder at its end, also if
// the app failed, but not if it was canceled (facts 87 and 88).
const successFile = "SUCCESS"

type success struct {
	AppID       string                     `json:"app_id"`
	LogDir      string                     `json:"log_dir"`
	FinalState  spec.State                 `json:"final_state"`
	LastUpdated float64                    `json:"last_updated"` // Unix time in seconds
	Roles       spec.Map[[]successReplica] `json:"roles"`
}

type successReplica struct {
	ReplicaID int    `json:"replica_id"`
	PID       int    `json:"pid"`
	ExitCode  *int   `json:"exitcode"` // -n for signal n, as in Python's subprocess
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ErrorFile string `json:"error_file"`
}

// writeSuccess writes the SUCCESS file if the user chose the log folder.
func (c *commands) writeSuccess(s *spec.Status, now time.Time) error {
	if !c.layout.User || s.State == spec.Cancelled {
		return nil
	}
	all := success{
		AppID: c.request.AppID, LogDir: c.layout.Dir, FinalState: s.State,
		LastUpdated: float64(now.UnixMicro()) / 1e6, Roles: spec.Map[[]successReplica]{},
	}
	for _, role := range s.Roles {
		replicas := make([]successReplica, len(role.Replicas))
		for i, r := range role.Replicas {
			replicas[i] = c.successOf(&r)
		}
		all.Roles.Set(role.Role, replicas)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode %s: %w", successFile, err)
	}
	if err := os.MkdirAll(c.layout.Dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", successFile, err)
	}
	if err := safefile.WriteFile(filepath.Join(c.layout.Dir, successFile), append(data, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", successFile, err)
	}
	return nil
}

func (c *commands) successOf(r *spec.ReplicaStatus) successReplica {
	key := spec.Replica{Role: r.Role, ID: r.ID}
	dir := c.layout.ReplicaDir(key, r.Attempt)
	code := r.ExitCode
	if code != nil && strings.HasPrefix(r.Signal, "SIG") {
		n := 128 - *code
		code = &n
	}
	return successReplica{
		ReplicaID: r.ID, PID: r.PID, ExitCode: code, Stdout: filepath.Join(dir, "stdout.log"),
		Stderr: filepath.Join(dir, "stderr.log"), ErrorFile: c.layout.errorFile(key, r.Attempt),
	}
}
