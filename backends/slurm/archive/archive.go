// Package archive keeps the logs of apps in TORCHX_HOME: the folder of an app is on a file system
// of the cluster, which may be cleaned up.
//
//	Copier  copies what the logs have that their copies lack, pass by pass
//	Agent   the detached process that does this until the app has ended
//
// An app has a folder:
//
//	app.json                         Info
//	agent.lock, agent.log            of the agent
//	replicas/<role>/<n>/lock         held by the process that copies
//	replicas/<role>/<n>/<attempt>/   the log (package logstore) and its cursor.json
package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// lockFile is the file in the folder of a replica that the process holds that copies.
const lockFile = "lock"

// Dir returns the folder of an app.
func Dir(home, id string) string { return Followers.Dir(home, id) }

// Followers are the agents of apps with archive=true, or with something to do at their end.
var Followers = agent.Followers{Folder: "slurm-archive", Manifest: "app.json"}

// Info is app.json.
type Info struct {
	agent.Followed
	Roles []Role `json:"roles"`
	Logs  bool   `json:"logs,omitempty"` // an agent copies the logs
}

// Role is a role of an app.
type Role struct {
	Name     string `json:"name"`
	Replicas int    `json:"replicas"`
}

// RolesOf returns the roles of an app.
func RolesOf(app *spec.App) (all []Role) {
	for i := range app.Roles {
		all = append(all, Role{app.Roles[i].Name, app.Roles[i].NumReplicas})
	}
	return all
}

// ReadInfo reads app.json. Errors: fs.ErrNotExist.
func ReadInfo(dir string) (i Info, err error) {
	err = Followers.Read(dir, &i)
	return i, err
}

// Logs returns the logs below dir, an archive or a folder of retained logs; nil if it has none.
func Logs(dir string, roles []Role) *backend.RetainedLogs {
	k, found := &backend.RetainedLogs{Dir: dir, Layout: logstore.ReplicasFolder}, false
	for _, role := range roles {
		kept := backend.RetainedRole{Role: role.Name, Attempts: make([]int, role.Replicas)}
		for id := range kept.Attempts {
			entries, _ := os.ReadDir(logstore.ReplicaDir(dir, spec.Replica{Role: role.Name, ID: id})) // a missing folder has none
			for _, e := range entries {
				if n, err := strconv.Atoi(e.Name()); err == nil {
					kept.Attempts[id], found = max(kept.Attempts[id], n+1), true
				}
			}
		}
		k.Roles = append(k.Roles, kept)
	}
	if !found {
		return nil
	}
	return k
}

// Open opens a log of Logs. Errors: backend.ErrNotFound.
func Open(k *backend.RetainedLogs, r spec.Replica, hub *logstore.Hub, o backend.LogOptions) (backend.LogReader, error) {
	attempts, _ := k.Attempts(r)
	if attempts == 0 {
		return nil, fmt.Errorf("replica %s/%d has no archived log: %w", r.Role, r.ID, backend.ErrNotFound)
	}
	return logstore.Open(logstore.Source{
		Dir:   func(attempt int) string { return logstore.AttemptDir(k.Dir, r, attempt) },
		State: func() (int, bool, error) { return attempts, true, nil }, Hub: hub,
	}, o)
}

// Retain moves the logs below dir, an archive or the folder of an app, to a new folder. It fails if
// that is on another file system.
func Retain(dir, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(dir, logstore.ReplicasFolder), filepath.Join(to, logstore.ReplicasFolder))
	if err != nil {
		_ = os.Remove(to) // empty
	}
	return err
}
