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
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"torchx/backends/logcopy"
	"torchx/backends/slurm/folder"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Names in a home and in the folder of an app.
const (
	homeFolder = "slurm-archive"
	infoFile   = "app.json"
	lockFile   = "lock"
	maxInfo    = 1 << 20 // bytes of app.json
)

// Dir returns the folder of an app.
func Dir(home, id string) string { return filepath.Join(home, homeFolder, agent.Escape(id)) }

// Info is app.json.
type Info struct {
	ID    string         `json:"id"`
	Cfg   backend.Config `json:"cfg"` // options that locate the app
	Roles []Role         `json:"roles"`
	Logs  bool           `json:"logs,omitempty"` // an agent copies the logs
	// Agent means that an agent must follow the app, since Begun and until Done.
	Agent bool      `json:"agent,omitempty"`
	Begun time.Time `json:"begun,omitzero"`
	Done  bool      `json:"done,omitempty"`
	// OnEnd is what the agent runs when the app has ended; nil: nothing.
	OnEnd *backend.OnEnd `json:"on_end,omitempty"`
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
	data, err := safefile.ReadFile(filepath.Join(dir, infoFile), maxInfo)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(data, &i); err != nil {
		return i, fmt.Errorf("read %s: %w", filepath.Join(dir, infoFile), err)
	}
	return i, nil
}

// Write writes app.json, and creates the folder if it is missing.
func (i Info) Write(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = logcopy.WriteJSON(filepath.Join(dir, infoFile), i)
	}
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	return nil
}

// IsArchive reports whether a folder is an archive.
func IsArchive(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, infoFile))
	return err == nil && filepath.Base(filepath.Dir(dir)) == homeFolder
}

// replicaDir returns the folder of a replica's logs in an archive, or in the folder of an app.
func replicaDir(dir string, r spec.Replica) string {
	return filepath.Join(dir, folder.ReplicasDir, agent.Escape(r.Role), strconv.Itoa(r.ID))
}

// Logs returns the logs below dir, an archive or a folder of retained logs; nil if it has none.
func Logs(dir string, roles []Role) *backend.RetainedLogs {
	k, found := &backend.RetainedLogs{Dir: dir, Layout: folder.ReplicasDir}, false
	for _, role := range roles {
		kept := backend.RetainedRole{Role: role.Name, Attempts: make([]int, role.Replicas)}
		for id := range kept.Attempts {
			entries, _ := os.ReadDir(replicaDir(dir, spec.Replica{Role: role.Name, ID: id})) // a missing folder has none
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
	attempts := 0
	for _, role := range k.Roles {
		if role.Role == r.Role && r.ID >= 0 && r.ID < len(role.Attempts) {
			attempts = role.Attempts[r.ID]
		}
	}
	if attempts == 0 {
		return nil, fmt.Errorf("replica %s/%d has no archived log: %w", r.Role, r.ID, backend.ErrNotFound)
	}
	return logstore.Open(logstore.Source{
		Dir:   func(attempt int) string { return filepath.Join(replicaDir(k.Dir, r), strconv.Itoa(attempt)) },
		State: func() (int, bool, error) { return attempts, true, nil }, Hub: hub,
	}, o)
}

// FreeName returns a path in a folder with a name, and a suffix if that is taken.
func FreeName(in, name string) string {
	path := filepath.Join(in, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path = filepath.Join(in, name+"+"+strconv.Itoa(n)) // '+' is in no escaped name
	}
}

// Retain moves the logs below dir, an archive or the folder of an app, to a new folder. It fails if
// that is on another file system.
func Retain(dir, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(dir, folder.ReplicasDir), filepath.Join(to, folder.ReplicasDir))
	if err != nil {
		_ = os.Remove(to) // empty
	}
	return err
}

// Remove deletes an archive. Other processes never see a part of it.
func Remove(dir string) error { return agent.RemoveFollowed(dir) }
