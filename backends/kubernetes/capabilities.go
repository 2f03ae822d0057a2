package kubernetes

import (
	"torchx/backends/remote"
	"torchx/runtime/backend"
)

var _ backend.Backend = (*Backend)(nil)

// Capabilities returns what the backend can do with pods, whose logs are archived on this
// machine.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Placement: backend.Placement{Target: b, Trusted: b},
		Access:    backend.Access{Exec: b, Ports: b, Files: remote.Copier{Executor: b}, Terminal: b},
		Reports: backend.Reports{
			Doctor: b, Batch: b, Ends: b, Events: b, Observers: &b.Observers, Submissions: b, Manifests: b, Usage: b, Meter: b,
		},
		Storage: backend.Storage{Folder: b, Output: b, Size: b, Logs: b, Recovery: b},
	}
}
