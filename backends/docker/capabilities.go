package docker

import (
	"torchx/backends/supervised"
	"torchx/runtime/backend"
)

var _ backend.Backend = (*Backend)(nil)

// Capabilities returns what the backend can do with containers, whose agents run on this
// machine.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Placement: backend.Placement{RunsHere: true, After: b.Apps, Capacity: b},
		Access:    backend.Access{Exec: b, Ports: b, Files: b, Terminal: supervised.Terminals{Apps: b.Apps}},
		Reports:   backend.Reports{Doctor: b, Observers: &b.Observers, Usage: b},
		Storage:   backend.Storage{Folder: b, Output: b, Size: b, Logs: b, Recovery: b, History: b},
	}
}
