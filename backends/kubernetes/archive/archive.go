// Package archive keeps the logs of pods in TORCHX_HOME: clusters delete pods when an app is
// canceled, retried or done. All commands read an app's logs through this package, so that
// the lines can be read again after the pods are gone, and copying resumes where it stopped.
//
//	Cluster ── Snapshots ──► App ──► collector (one for each replica, under its lock)
//	                          │          └─ log: a logcopy.Log and its position
//	                          └──► reader: the copied logs of all containers, merged
//
// An app has a folder:
//
//	archive.json                     the app's ID, and whether an agent follows it
//	agent.lock, agent.log            of that agent
//	replicas/<role>/<n>/lock         held by the process that copies logs of that replica
//	replicas/<role>/<n>/<attempt>/   the log of the main container (package logstore) and its cursor.json
//	…/<attempt>/containers/<name>/   the same for another container
//	streams/<stdout|stderr>/         replicas as above, with one stream only, if the cluster separates them
//
// One process copies, all others read its copy.
package archive

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
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Names in a home and in the folder of an app.
const (
	archiveFolder    = "archive"
	containersFolder = "containers"
	streamsFolder    = "streams"
	roleFile         = "role"  // the name of the role; the folder's name is escaped
	maxRoleName      = 1 << 20 // bytes of that file
	lockFile         = "lock"
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

// Dir returns the folder of an app.
func Dir(home, id string) string { return Followers.Dir(home, id) }

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

func (n logName) dir(replica string) string {
	dir := filepath.Join(replica, strconv.Itoa(n.attempt))
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
		if _, err := os.Stat(filepath.Join(logstore.AttemptDir(dir, r, attempt), logcopy.CursorFile)); err == nil {
			names[logName{attempt, ""}] = true
		}
		containers, _ := os.ReadDir(filepath.Join(logstore.AttemptDir(dir, r, attempt), containersFolder))
		for _, c := range containers {
			names[logName{attempt, c.Name()}] = true
		}
	}
	return names, attempts
}

// Followers are the agents of apps with archive=true, or with something to do at their end.
var Followers = agent.Followers{Folder: archiveFolder, Manifest: "archive.json"}

// Info is archive.json.
type Info struct {
	agent.Followed
	// App has the roles with their metrics; nil: none are collected.
	App *spec.App `json:"app,omitempty"`
}

// ReadInfo reads archive.json. Errors: fs.ErrNotExist.
func ReadInfo(dir string) (i Info, err error) {
	err = Followers.Read(dir, &i)
	return i, err
}

// Exists reports whether an archive has logs.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, logstore.ReplicasFolder))
	return !errors.Is(err, fs.ErrNotExist)
}
