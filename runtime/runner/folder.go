package runner

import (
	"torchx/runtime/backend"
	"torchx/runtime/history"
)

// Folder returns the folder of this machine with an app's data that torchx keeps beside its logs.
// It need not exist. Errors: backend.ErrUnsupported.
func (r *Runner) Folder(ref history.AppKey) (string, error) {
	keeper, err := r.folders(ref)
	if err != nil {
		return "", err
	}
	return keeper.FolderOf(ref.ID), nil
}

func (r *Runner) folders(ref history.AppKey) (backend.FolderKeeper, error) {
	can, err := r.Backends.Capabilities(ref.Backend)
	if err == nil && can.Folder == nil {
		err = backend.Errorf(backend.ErrUnsupported,
			"backend %s keeps no data of apps on this machine", ref.Backend)
	}
	return can.Folder, err
}
