package runner

import (
	"torchx/runtime/backend"
	"torchx/runtime/history"
)

// Folder returns the folder of this machine with an app's data that torchx keeps beside its logs.
// It need not exist. Errors: backend.ErrUnsupported.
func (r *Runner) Folder(ref history.AppKey) (string, error) {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return "", err
	}
	finder, ok := b.(backend.FolderFinder)
	if !ok {
		return "", backend.Errorf(backend.ErrUnsupported, "backend %s keeps no data of apps on this machine", ref.Backend)
	}
	return finder.FolderOf(ref.ID), nil
}
