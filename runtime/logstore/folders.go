package logstore

import (
	"path/filepath"
	"strconv"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// ReplicasFolder is the folder of an app with the logs of its replicas.
const ReplicasFolder = "replicas"

// ReplicaDir returns the folder of a replica in the folder of its app.
func ReplicaDir(app string, r spec.Replica) string {
	return filepath.Join(app, ReplicasFolder, safefile.Escape(r.Role), strconv.Itoa(r.ID))
}

// AttemptDir returns the folder with the log of one attempt of a replica. Attempts count from 0.
func AttemptDir(app string, r spec.Replica, attempt int) string {
	return filepath.Join(ReplicaDir(app, r), strconv.Itoa(attempt))
}
