//go:build unix

package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// Descriptors that the agent has open: its own (journals, history, epoll, spares),
// and for each running replica two pipes with both ends and the log's files, those
// for lost output and a size limit included.
const (
	ownFiles     = 48
	replicaFiles = 9
)

// errOpenFiles says that the limit of open files is too low for the app.
var errOpenFiles = errors.New("too many open files")

// MaxReplicas is how many replicas an app can have whose agent may have that many
// files open.
func MaxReplicas(openFiles uint64) uint64 {
	if openFiles < ownFiles {
		return 0
	}
	return (openFiles - ownFiles) / replicaFiles
}

// checkOpenFiles refuses an app that cannot run with the files this process may
// have open. The Go runtime has raised the soft limit to the hard one before.
func checkOpenFiles(replicas []spec.Replica) error {
	var limit unix.Rlimit
	need := uint64(ownFiles + replicaFiles*len(replicas))
	known := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil // else the first replica that does not start will tell
	if !known || limit.Cur >= need {
		return nil
	}
	return &agent.ReplicaStartError{Replica: replicas[0], Code: spec.ExitNotStarted, Err: fmt.Errorf(
		"%w: %d replicas need %d, the hard limit is %d: raise it (`ulimit -Hn`), or run fewer replicas",
		errOpenFiles, len(replicas), need, limit.Cur)}
}
