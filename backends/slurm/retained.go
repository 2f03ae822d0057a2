package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"torchx/backends/archive"
	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// retainedLogs returns the logs below dir, an archive or the folder of an app; nil if it has none.
func retainedLogs(dir string, roles []archive.Role) *backend.RetainedLogs {
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

// moveLogs moves the logs below dir to a new folder. It fails if that is on another file system.
func moveLogs(dir, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(dir, logstore.ReplicasFolder),
		filepath.Join(to, logstore.ReplicasFolder))
	if err != nil {
		_ = os.Remove(to) // empty
	}
	return err
}

// RetainableLogs returns the logs that Delete keeps. Errors: ErrNotFound.
func (b *Backend) RetainableLogs(
	ctx context.Context, id string, o backend.DeleteOptions,
) (*backend.RetainedLogs, error) {
	if !o.KeepLogs {
		return nil, nil //nolint:nilnil // having no logs is not an error
	}
	t, err := b.find(ctx, id)
	if err != nil || t.record == nil {
		return nil, err
	}
	k := retainedLogs(string(t.folder), archive.RolesOf(t.record.App))
	if k != nil {
		k.Dir = b.retainedDir(id)
	}
	return k, nil
}

func (b *Backend) retainedDir(id string) string {
	return backend.RetainedDir(b.config.Home, safefile.Escape(id))
}

// retainLogs moves the logs of an app into the home. On another file system they are copied.
func (b *Backend) retainLogs(ctx context.Context, t *target) error {
	roles := archive.RolesOf(t.record.App)
	if retainedLogs(string(t.folder), roles) == nil {
		return nil // a delete that was interrupted has moved them
	}
	to := b.retainedDir(t.id)
	if moveLogs(string(t.folder), to) == nil {
		return nil
	}
	dir := archives.Dir(b.config.Home, t.id)
	complete, err := t.copierTo(dir).pass(ctx, true)
	if err != nil {
		return err
	}
	if !complete {
		return backend.Errorf(backend.ErrUnavailable,
			"keep the logs of app %s: another process copies them (try again)", t.id)
	}
	return moveLogs(dir, to)
}

// OpenRetainedLogs opens a log that Delete kept, or one of an app whose folder has gone.
func (b *Backend) OpenRetainedLogs(
	_ context.Context, k *backend.RetainedLogs, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	if err := checkStream(o.Stream); err != nil {
		return nil, err
	}
	attempts, _ := k.Attempts(r)
	if attempts == 0 {
		return nil, fmt.Errorf("replica %s/%d has no archived log: %w", r.Role, r.ID,
			backend.ErrNotFound)
	}
	return logstore.Open(logstore.Source{
		Dir:   func(attempt int) string { return logstore.AttemptDir(k.Dir, r, attempt) },
		State: func() (int, bool, error) { return attempts, true, nil }, Hub: b.files,
	}, o)
}

// FindLogs returns the copies of the logs of an app whose folder has gone.
func (b *Backend) FindLogs(
	id string, cfg backend.Config, cwd string, _ []spec.RoleStatus,
) *backend.RetainedLogs {
	dir := archives.Dir(b.config.Home, id)
	if i, err := archives.Read(dir); err == nil {
		if k := retainedLogs(dir, i.Roles); k != nil {
			return k
		}
	}
	f := folder.Folder(filepath.Join(b.baseDir(cfg, cwd), safefile.Escape(id)))
	if r, err := f.Record(); err == nil {
		return retainedLogs(string(f), archive.RolesOf(r.App))
	}
	return nil
}
