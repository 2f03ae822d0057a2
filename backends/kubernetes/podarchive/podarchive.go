// Package podarchive keeps the logs of pods in TORCHX_HOME: clusters delete pods when an app is
// canceled, retried or done. All commands read an app's logs through this package, so that
// the lines can be read again after the pods are gone, and copying resumes where it stopped.
//
//	Cluster ── Snapshots ──► App ──► collector (one for each replica, under its lock)
//	                          │          └─ log: a logcopy.Log and its position
//	                          └──► reader: the copied logs of all containers, merged
//
// The log of an attempt in an archive (see package backends/archive) is that of its main
// container. The folder of an app also has:
//
//	replicas/<role>/role             the name of the role
//	…/<attempt>/containers/<name>/   the log of another container and its cursor.json
//	streams/<stdout|stderr>/         replicas with one stream only, if the cluster separates them
//
// One process copies, all others read its copy.
package podarchive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Names in the folder of an app.
const (
	containersFolder = "containers"
	streamsFolder    = "streams"
	roleFile         = "role"  // the name of the role; the folder's name is escaped
	maxRoleName      = 1 << 20 // bytes of that file
)

// Run is one run of one container of a pod.
type Run struct {
	Replica   spec.Replica
	Attempt   int
	Container string // "" is the main one
	Name      string // of the container in the pod
	Pod, UID  string
	Node      string    // of the pod, "" before it has one
	Created   time.Time // of the pod
	Restart   int       // restarts of the container in its pod before this run
	Previous  bool      // the run before the current one of the container
	Verify    bool      // another run may have taken its name
	InPlace   bool      // another run may have taken its name in the same pod
	State     logcopy.State
	// NextStarted is when the next run started, by the clock of the node in whole seconds; zero if
	// it has not. It is known for a previous run.
	NextStarted time.Time
}

// same reports whether r and o are the same run, in any state.
func (r *Run) same(o *Run) bool { return r.UID == o.UID && r.Restart == o.Restart }

// Snapshot holds the runs of an app on its cluster, and its status.
type Snapshot struct {
	Runs   []Run // by pod; within a pod, the main container first
	Status *spec.Status
	Took   time.Duration // for reading the cluster
	Hidden error         // why the runs cannot be read; nil if they can
}

// Cluster is one app on its cluster.
type Cluster interface {
	// Snapshot returns the current state. Errors: backend.ErrNotFound if the app does not
	// exist, backend.ErrUnavailable.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Watch calls see after each change, until the app has ended or ctx is done. It retries
	// while the cluster is unreachable. Errors: backend.ErrNotFound, ctx.Err(), or a
	// permanent one.
	Watch(ctx context.Context, see func(*Snapshot)) error
	// Open opens a log, see logcopy.Source. Errors also: ErrServerAway, ErrNodeAway.
	Open(ctx context.Context, r Run, o logcopy.Options) (io.ReadCloser, error)
}

// Positions stores cursors.
type Positions = history.Positions

// StreamDir returns the folder for one stream in an archive, the archive itself for both.
func StreamDir(dir string, s backend.Stream) string {
	if s == "" || s == backend.Combined {
		return dir
	}
	return filepath.Join(dir, streamsFolder, string(s))
}

// logName identifies a log of a replica.
type logName struct {
	attempt   int
	container string // "" is the main one
}

// dir returns the folder of the log in the folder of an app.
func (n logName) dir(app string, r spec.Replica) string {
	dir := logstore.AttemptDir(app, r, n.attempt)
	if n.container == "" {
		return dir
	}
	return filepath.Join(dir, containersFolder, safefile.Escape(n.container))
}

// archived returns the archived logs of a replica, and the number of its attempts.
func archived(dir string, r spec.Replica) (names map[logName]bool, attempts int) {
	names = map[logName]bool{}
	entries, _ := os.ReadDir(logstore.ReplicaDir(dir, r)) // a missing folder has none
	for _, e := range entries {
		attempt, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		attempts = max(attempts, attempt+1)
		main := logName{attempt, ""}
		if _, err := os.Stat(filepath.Join(main.dir(dir, r), logcopy.CursorFile)); err == nil {
			names[main] = true
		}
		containers, _ := os.ReadDir(filepath.Join(main.dir(dir, r), containersFolder))
		for _, c := range containers {
			names[logName{attempt, c.Name()}] = true
		}
	}
	return names, attempts
}

// Exists reports whether an archive has logs.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, logstore.ReplicasFolder))
	return !errors.Is(err, fs.ErrNotExist)
}

const (
	// usualFiles is the usual limit of open files.
	usualFiles = 1024
	// filesOfLog is the number of files that are open while a replica's log is copied and read:
	// its lock, and two streams and their index for writing, one and the index for reading.
	filesOfLog = 6
)

// followLimit returns how many replicas are followed at the same time. A fifth of the files is
// left to the rest of the program.
func followLimit() int { return max(1, openFiles()/5*4/filesOfLog) }

// FilesFor returns how many files a process needs to open to follow n replicas.
func FilesFor(n int) int { return n*filesOfLog*5/4 + 1 }
