package kubernetes

import (
	"context"
	"path/filepath"
	"sync"

	"torchx/backends/kubernetes/archive"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Logs opens the log of one replica. What is read of the cluster is archived under
// TORCHX_HOME on its way, so that it can be read when the pods are gone.
// Errors: ErrNotFound, ErrUnavailable, ErrUnsupported (a single stream of a cluster that
// does not tell them apart), ErrInvalidOption.
func (b *Backend) Logs(ctx context.Context, id string, r spec.Replica, o backend.LogOptions) (backend.LogReader, error) {
	var err error
	if o.Stream, err = checkStream(o.Stream); err != nil {
		return nil, err
	}
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := b.checkSplit(ctx, t, o.Stream); err != nil {
		return nil, err
	}
	return b.archive(id, o.Stream).Open(ctx, r, o)
}

var (
	_ backend.Sizer       = (*Backend)(nil)
	_ backend.LogFinder   = (*Backend)(nil)
	_ backend.LogRetainer = (*Backend)(nil)
	_ backend.Sweeper     = (*Backend)(nil)
)

// archive is that of an app's stream, "" is both; all who read its logs share one look
// at the cluster.
func (b *Backend) archive(id string, s backend.Stream) *archive.App {
	b.logs.mu.Lock()
	defer b.logs.mu.Unlock()
	hub := b.logs.hub()
	if a := b.logs.apps[logKey{id, s}]; a != nil {
		return a
	}
	a := archive.New(archive.Config{
		Backend: manifest.Name, ID: id, Dir: archive.StreamDir(archive.Dir(b.config.Home, id), s), Stream: s, Hub: hub,
		Cluster: &logCluster{b, id, s}, Positions: b.config.Positions, Warn: b.config.Warn,
	})
	b.logs.apps[logKey{id, s}] = a
	return a
}

// OpenRetainedLogs opens a log that Delete left, or one of an app that somebody else deleted.
func (b *Backend) OpenRetainedLogs(_ context.Context, k *backend.RetainedLogs, r spec.Replica, o backend.LogOptions) (backend.LogReader, error) {
	var err error
	if o.Stream, err = checkStream(o.Stream); err != nil {
		return nil, err
	}
	if o.Stream != "" && !archive.Exists(archive.StreamDir(k.Dir, o.Stream)) {
		return nil, errNotSplit(o.Stream)
	}
	b.logs.mu.Lock()
	hub := b.logs.hub()
	b.logs.mu.Unlock()
	return archive.OpenKept(k, r, hub, o)
}

// FindLogs looks for the archive of an app that the cluster no longer has.
func (b *Backend) FindLogs(id string, _ backend.Config, _ string, _ []spec.RoleStatus) *backend.RetainedLogs {
	return archive.Kept(archive.Dir(b.config.Home, id))
}

// RetainableLogs says what Delete leaves: the archive, if that is asked for and there is one.
func (b *Backend) RetainableLogs(_ context.Context, id string, o backend.DeleteOptions) (*backend.RetainedLogs, error) {
	if !o.KeepLogs {
		return nil, nil //nolint:nilnil // none is no error
	}
	k := archive.Kept(archive.Dir(b.config.Home, id))
	if k != nil {
		k.Dir = archive.FreeName(filepath.Join(b.config.Home, keptFolder), k.Dir)
	}
	return k, nil
}

// keptFolder is the folder of a home for logs that outlive their apps.
const keptFolder = "logs"

// Size is what the archive of an app takes; the rest is the cluster's.
func (b *Backend) Size(_ context.Context, id string, o backend.DeleteOptions) (int64, error) {
	if o.KeepLogs {
		return 0, nil
	}
	return archive.Size(archive.Dir(b.config.Home, id))
}

// forgetLogs removes the archive of an app that was deleted, or puts it aside.
func (b *Backend) forgetLogs(id string, o backend.DeleteOptions) error {
	dir := archive.Dir(b.config.Home, id)
	if o.KeepLogs && archive.Exists(dir) {
		return archive.Keep(dir, archive.FreeName(filepath.Join(b.config.Home, keptFolder), dir))
	}
	return archive.Remove(dir)
}

// logKey is an app's stream, "" is both.
type logKey struct {
	id     string
	stream backend.Stream
}

// openLogs are the archives that are in use.
type openLogs struct {
	mu    sync.Mutex
	apps  map[logKey]*archive.App
	files *logstore.Hub // nil until the first one
}

// hub tells readers of files that grow; mu is held.
func (l *openLogs) hub() *logstore.Hub {
	if l.files == nil {
		l.files, l.apps = logstore.NewHub(), map[logKey]*archive.App{}
	}
	return l.files
}

func (l *openLogs) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		return nil
	}
	err := l.files.Close()
	l.files, l.apps = nil, nil
	return err
}
