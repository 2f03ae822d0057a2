package slurm

import (
	"context"
	"path/filepath"

	"torchx/backends/slurm/archive"
	"torchx/backends/slurm/folder"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// retainedFolder is the folder of a home for logs that outlive their apps.
const retainedFolder = "logs"

// RetainableLogs returns the logs that Delete keeps. Errors: ErrNotFound.
func (b *Backend) RetainableLogs(ctx context.Context, id string, o backend.DeleteOptions) (*backend.RetainedLogs, error) {
	if !o.KeepLogs {
		return nil, nil //nolint:nilnil // having no logs is not an error
	}
	t, err := b.find(ctx, id)
	if err != nil || t.record == nil {
		return nil, err
	}
	k := archive.Logs(string(t.folder), archive.RolesOf(t.record.App))
	if k != nil {
		k.Dir = b.retainedDir(id)
	}
	return k, nil
}

func (b *Backend) retainedDir(id string) string {
	return archive.FreeName(filepath.Join(b.config.Home, retainedFolder), agent.Escape(id))
}

// retainLogs moves the logs of an app into the home. On another file system they are copied.
func (b *Backend) retainLogs(ctx context.Context, t *target) error {
	roles := archive.RolesOf(t.record.App)
	if archive.Logs(string(t.folder), roles) == nil {
		return nil // a delete that was interrupted has moved them
	}
	to := b.retainedDir(t.id)
	if archive.Retain(string(t.folder), to) == nil {
		return nil
	}
	dir := archive.Dir(b.config.Home, t.id)
	copier := &archive.Copier{Dir: dir, From: t.folder, App: t.record.App}
	complete, err := copier.Pass(ctx, true)
	if err != nil {
		return err
	}
	if !complete {
		return backend.Errorf(backend.ErrUnavailable, "keep the logs of app %s: another process copies them (try again)", t.id)
	}
	return archive.Retain(dir, to)
}

// OpenRetainedLogs opens a log that Delete kept, or one of an app whose folder has gone.
func (b *Backend) OpenRetainedLogs(_ context.Context, k *backend.RetainedLogs, r spec.Replica, o backend.LogOptions) (backend.LogReader, error) {
	if err := checkStream(o.Stream); err != nil {
		return nil, err
	}
	return archive.Open(k, r, b.files(), o)
}

// FindLogs returns the copies of the logs of an app whose folder has gone.
func (b *Backend) FindLogs(id string, cfg backend.Config, cwd string, _ []spec.RoleStatus) *backend.RetainedLogs {
	dir := archive.Dir(b.config.Home, id)
	if i, err := archive.ReadInfo(dir); err == nil {
		if k := archive.Logs(dir, i.Roles); k != nil {
			return k
		}
	}
	f := folder.Folder(filepath.Join(b.baseDir(cfg, cwd), agent.Escape(id)))
	if r, err := f.Record(); err == nil {
		return archive.Logs(string(f), archive.RolesOf(r.App))
	}
	return nil
}
