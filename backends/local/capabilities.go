//go:build unix

package local

import (
	"torchx/backends/supervised"
	"torchx/runtime/backend"
)

var _ backend.Backend = (*Backend)(nil)

// Capabilities returns what the backend can do with processes of this machine. The agents of
// a home share one queue.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Placement: backend.Placement{RunsHere: true, Queues: true, After: b.Apps, Capacity: b},
		Access:    backend.Access{Exec: b, Ports: b, Files: b, Terminal: supervised.Terminals{Apps: b.Apps}},
		Reports:   backend.Reports{Doctor: b, Observers: &b.Observers, Usage: b},
		Storage:   backend.Storage{Folder: b, Output: b, Size: b, Logs: b, Recovery: b, History: b},
	}
}
