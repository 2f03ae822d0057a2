package sweep

import "torchx/runtime/backend"

var _ backend.Backend = (*Backend)(nil)

// Capabilities returns what the backend can do with sweeps, which have no replicas of their
// own. Recovery is missing: the local backend recovers all bundles of a home.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Placement: backend.Placement{RunsHere: true, Trials: b},
		Reports:   backend.Reports{Observers: &b.Observers, Usage: b},
		Storage:   backend.Storage{Folder: b, Size: b, Logs: b, History: b},
	}
}
