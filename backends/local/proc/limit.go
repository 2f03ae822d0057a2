//go:build unix

package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// Open descriptors of the agent: its own (journals, history, epoll, spare ones), and for
// each running replica both ends of two pipes and the files of its log, including those
// for lost output and a size limit.
const (
	ownFiles     = 48
	replicaFiles = 9
)

// errOpenFiles is returned if the limit of open files is too low for the app.
var errOpenFiles = errors.New("too many open files")

// MaxReplicas returns how many replicas an app can have if its agent may open openFiles
// files.
func MaxReplicas(openFiles uint64) uint64 {
	if openFiles < ownFiles {
		return 0
	}
	return (openFiles - ownFiles) / replicaFiles
}

// checkOpenFiles refuses an app that needs more open files than this process may have.
// The Go runtime has already raised the soft limit to the hard one.
func checkOpenFiles(replicas []spec.Replica) error {
	var limit unix.Rlimit
	need := uint64(ownFiles + replicaFiles*len(replicas))
	known := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil // otherwise the first replica that fails to start reports it
	if !known || limit.Cur >= need {
		return nil
	}
	return &agent.ReplicaStartError{Replica: replicas[0], Code: spec.ExitNotStarted, Err: fmt.Errorf(
		"%w: %d replicas need %d, the hard limit is %d: raise it (`ulimit -Hn`), or run fewer replicas",
		errOpenFiles, len(replicas), need, limit.Cur)}
}
