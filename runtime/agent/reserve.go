package agent

import (
	"errors"
	"fmt"
	"os"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// A reserve is disk space for the app's result, so that exits of replicas and the final
// status can be written after logs have filled the disk. It is two files, since a log that
// is still copied fills what one gives back.
const (
	exitsReserve  = ".reserve-exits"
	resultReserve = ".reserve"
)

// Bytes reserved: for the app, and for each replica (its exit; twice its part of
// the status, since the old one is there until the new one is whole).
const (
	exitsBase     = 16 << 10
	exitsReplica  = 512
	resultBase    = 48 << 10
	resultReplica = 1536
)

// reserve is the room; a nil one has none.
type reserve struct{ bundle Bundle }

// makeReserve takes the room before the app is begun. Where the system cannot do
// that the app goes without; an error says that there is no room.
func (b Bundle) makeReserve(replicas int) error {
	if err := b.allocateReserve(replicas); isNoSpace(err) {
		return fmt.Errorf("keep room for the app's result: %w", err)
	}
	return nil
}

func replicasOf(app *spec.App) (n int) {
	for i := range app.Roles {
		n += app.Roles[i].NumReplicas
	}
	return n
}

// newReserve takes the room again for an agent that follows another. It returns nil if the
// disk is full by now.
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

// releaseExits gives back the room for exits and reports whether there was any.
func (r *reserve) releaseExits() bool {
	return r != nil && os.Remove(r.bundle.path(exitsReserve)) == nil
}

// release gives back all room.
func (r *reserve) release() {
	if r.releaseExits(); r != nil {
		_ = os.Remove(r.bundle.path(resultReserve)) // it may be released already
	}
}
