package slurm

import (
	"torchx/backends/remote"
	"torchx/runtime/backend"
)

var _ backend.Backend = (*Backend)(nil)

// Capabilities returns what the backend can do with jobs. Their folders are on a shared file
// system, and no agent collects their metrics.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Placement: backend.Placement{Target: b, After: b},
		Access:    backend.Access{Exec: b, Files: remote.Copier{Executor: b}},
		Reports:   backend.Reports{Doctor: b, Observers: &b.Observers, Submissions: b, Usage: b},
		Storage:   backend.Storage{Folder: b, CollectsLate: true, Output: b, Size: b, Logs: b, Recovery: b},
	}
}
