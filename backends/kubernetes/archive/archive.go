// Package archive keeps the logs of pods in TORCHX_HOME: clusters delete pods when
// an app is canceled, retried or done. All reading of an app's log goes through here, so
// that it can be read again when the pods are gone, and goes on where it ended before.
//
//	Cluster ── Snapshots ──► App ──► collector (one for each replica, under its lock)
//	                          │          └─ log: a logcopy.Log and its position
//	                          └──► reader: the copied logs of all containers, merged
//
// An app has a folder:
//
//	archive.json                     which app it is, and whether an agent follows it
//	agent.lock, agent.log            of that agent
//	replicas/<role>/<n>/lock         held by the process that copies logs of that replica
//	replicas/<role>/<n>/<attempt>/   the log of the main container (package logstore) and its cursor.json
//	…/<attempt>/containers/<name>/   the same of another container
//	streams/<stdout|stderr>/         replicas as above, with one stream only, of clusters that tell them apart
//
// One process copies, others read what it has copied.
package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Names in a home and in the folder of an app.
const (
	archiveFolder    = "archive"
	replicasFolder   = "replicas"
	containersFolder = "containers"
	streamsFolder    = "streams"
	roleFile         = "role" // the name of the role: that of the folder is escaped
	lockFile         = "lock"
)

// Run is one run of one container of a pod.
type Run struct {
	Replica   spec.Replica
	Attempt   int
	Container string // "" is the main one
	Name      string // of the container in the pod
	Pod, UID  string
	Created   time.Time // of the pod
	Restart   int       // how often the container was started before in its pod
	Previous  bool      // it is the one before the current one there
	Verify    bool      // another run can have taken its name
	InPlace   bool      // … in the same pod
	State     logcopy.State
	Ended     time.Time // in whole seconds, by the clock of the node; zero: unknown
}

// same reports whether two are the same run, whatever its state.
func (r *Run) same(o *Run) bool { return r.UID == o.UID && r.Restart == o.Restart }

// Snapshot is what is on the cluster of an app.
type Snapshot struct {
	Runs   []Run // in the order of their pods and of their containers there, the main one first
	Status *spec.Status
}

// Cluster is one app on its cluster.
type Cluster interface {
	// Snapshot returns what is there now. Errors: backend.ErrNotFound if there is no such
	// app, backend.ErrUnavailable.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Watch calls see at each change, the last time when the app has ended, or until ctx
	// ends. It survives a cluster that is away. Errors: backend.ErrNotFound, ctx.Err(),
	// or one that will not pass.
	Watch(ctx context.Context, see func(*Snapshot)) error
	// Open reads a log, see logcopy.Source.
	Open(ctx context.Context, r Run, o logcopy.Options) (io.ReadCloser, error)
}

// Positions keeps cursors.
type Positions = history.Positions

// Dir returns the folder of an app.
func Dir(home, id string) string { return filepath.Join(home, archiveFolder, agent.Escape(id)) }

// StreamDir returns the folder of an archive with one stream alone; the archive itself
// for both.
func StreamDir(dir string, s backend.Stream) string {
	if s == "" || s == backend.Combined {
		return dir
	}
	return filepath.Join(dir, streamsFolder, string(s))
}

func replicaDir(dir string, r spec.Replica) string {
	return filepath.Join(dir, replicasFolder, agent.Escape(r.Role), strconv.Itoa(r.ID))
}

func attemptDir(dir string, r spec.Replica, attempt int) string {
	return filepath.Join(replicaDir(dir, r), strconv.Itoa(attempt))
}

// logName names a log within a replica.
type logName struct {
	attempt   int
	container string // "" is the main one
}

func (n logName) dir(replica string) string {
	dir := filepath.Join(replica, strconv.Itoa(n.attempt))
	if n.container == "" {
		return dir
	}
	return filepath.Join(dir, containersFolder, agent.Escape(n.container))
}

// archived returns the logs that a replica has in the archive, and how many attempts.
// Folders of containers have their names, which are DNS labels.
func archived(dir string, r spec.Replica) (names map[logName]bool, attempts int) {
	names = map[logName]bool{}
	entries, _ := os.ReadDir(replicaDir(dir, r)) // without a folder there are none
	for _, e := range entries {
		attempt, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		attempts = max(attempts, attempt+1)
		if _, err := os.Stat(filepath.Join(attemptDir(dir, r, attempt), logcopy.CursorFile)); err == nil {
			names[logName{attempt, ""}] = true
		}
		containers, _ := os.ReadDir(filepath.Join(attemptDir(dir, r, attempt), containersFolder))
		for _, c := range containers {
			names[logName{attempt, c.Name()}] = true
		}
	}
	return names, attempts
}

// Info is archive.json.
type Info struct {
	ID  string         `json:"id"`
	Cfg map[string]any `json:"cfg"` // how the app is reached
	// Agent says that an agent is to follow the app, since Begun and until Done.
	Agent bool      `json:"agent,omitempty"`
	Begun time.Time `json:"begun,omitzero"`
	Done  bool      `json:"done,omitempty"`
}

const (
	infoFile = "archive.json"
	maxInfo  = 1 << 20 // bytes of archive.json and of a role's name
)

// ReadInfo reads what an archive says of itself. Errors: fs.ErrNotExist.
func ReadInfo(dir string) (i Info, err error) {
	data, err := safefile.ReadFile(filepath.Join(dir, infoFile), maxInfo)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(data, &i); err != nil {
		return i, fmt.Errorf("read %s: %w", filepath.Join(dir, infoFile), err)
	}
	return i, nil
}

// Write writes archive.json, and makes the folder if need be.
func (i Info) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	return logcopy.WriteJSON(filepath.Join(dir, infoFile), i)
}

// Exists reports whether anything of an app is archived.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, replicasFolder))
	return !errors.Is(err, fs.ErrNotExist)
}
