package agent

import (
	"errors"
	"fmt"
	"os"

	"torchx/runtime/safefile"
)

// A reserve is disk space for the app's result, so that replicas' exits and the
// final status can be written after logs have filled the disk. It is two
// files: a log that is still copied fills the space that one of them frees.
const (
	exitsReserve  = ".reserve-exits"
	resultReserve = ".reserve"
)

// Bytes reserved: for the app, and for each replica (its exit; twice its part of
// the status, since the old file exists until the new one is complete).
const (
	exitsBase     = 16 << 10
	exitsReplica  = 512
	resultBase    = 48 << 10
	resultReplica = 1536
)

// reserve is reserved disk space; a nil reserve has none.
type reserve struct{ bundle Bundle }

// makeReserve reserves disk space before the app starts. If the system does not support
// that, the app runs without; the error means that the disk is full.
func (b Bundle) makeReserve(replicas int) error {
	if err := b.allocateReserve(replicas); isNoSpace(err) {
		return fmt.Errorf("reserve disk space for the app's result: %w", err)
	}
	return nil
}

// ownReplicas returns how many replicas the supervisor starts: a Controller starts none.
func (m *Manifest) ownReplicas() (n int) {
	if m.Controls {
		return 0
	}
	for i := range m.App.Roles {
		n += m.App.Roles[i].NumReplicas
	}
	return n
}

// newReserve returns the reserve of the bundle. An agent that replaces a dead one
// allocates a new reserve, unless the disk is full.
func newReserve(b Bundle, replicas int) *reserve {
	if b.allocateReserve(replicas) != nil {
		return nil
	}
	return &reserve{b}
}

func (b Bundle) allocateReserve(replicas int) error {
	if err := allocateFile(b.path(exitsReserve), exitsBase+exitsReplica*replicas); err != nil {
		return err
	}
	return allocateFile(b.path(resultReserve), resultBase+resultReplica*replicas)
}

func allocateFile(path string, size int) error {
	f, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := allocate(f, int64(size)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// releaseExits frees the space for exits and reports whether there was any.
func (r *reserve) releaseExits() bool {
	return r != nil && os.Remove(r.bundle.path(exitsReserve)) == nil
}

// release frees all reserved space.
func (r *reserve) release() {
	if r.releaseExits(); r != nil {
		_ = os.Remove(r.bundle.path(resultReserve)) // it may be released already
	}
}
