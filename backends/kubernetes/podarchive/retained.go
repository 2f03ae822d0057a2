package podarchive

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// layout is the RetainedLogs.Layout of archives.
const layout = "archive"

// nameRole records the name of a replica's role, of which the folder has an escaped form.
func nameRole(dir string, r spec.Replica) error {
	role := filepath.Dir(logstore.ReplicaDir(dir, r))
	if err := os.MkdirAll(role, 0o700); err != nil {
		return err
	}
	name := filepath.Join(role, roleFile)
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	return safefile.WriteFile(name, []byte(r.Role))
}

// Retained returns the logs in an archive, nil if it has none.
func Retained(dir string) *backend.RetainedLogs {
	k := &backend.RetainedLogs{Dir: dir, Layout: layout}
	roles, err := os.ReadDir(filepath.Join(dir, logstore.ReplicasFolder))
	if err != nil {
		return nil
	}
	for _, e := range roles {
		folder := filepath.Join(dir, logstore.ReplicasFolder, e.Name())
		name, err := safefile.ReadFile(filepath.Join(folder, roleFile), maxRoleName)
		if err != nil {
			continue
		}
		role := backend.RetainedRole{Role: string(name)}
		ids, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range ids {
			if id, err := strconv.Atoi(e.Name()); err == nil {
				_, attempts := archived(dir, spec.Replica{Role: role.Role, ID: id})
				role.Attempts = append(role.Attempts,
					make([]int, max(0, id+1-len(role.Attempts)))...)
				role.Attempts[id] = attempts
			}
		}
		k.Roles = append(k.Roles, role)
	}
	if len(k.Roles) == 0 {
		return nil
	}
	return k
}

// OpenRetained opens a log of an archive whose app is no longer on the cluster. Errors:
// backend.ErrNotFound.
func OpenRetained(
	k *backend.RetainedLogs, r spec.Replica, hub *logstore.Hub, o backend.LogOptions,
) (backend.LogReader, error) {
	dir := StreamDir(k.Dir, o.Stream)
	names, attempts := archived(dir, r)
	if attempts == 0 {
		return nil, fmt.Errorf("replica %s/%d was not archived: %w", r.Role, r.ID,
			backend.ErrNotFound)
	}
	return openArchived(dir, r, names, attempts, hub, o)
}
