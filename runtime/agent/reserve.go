package agent

import (
	"errors"
	"fmt"
	"os"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// reserveFile reserves disk space for the app's result, so that exits of replicas and the
// final status can be written after logs have filled the disk.
const reserveFile = ".reserve"

// Bytes reserved: for the app, and for each replica (its exit, twice its part of
// the status, since the old one is there until the new one is whole).
const (
	reserveBase    = 64 << 10
	reserveReplica = 2 << 10
)

// reserve is the room; a nil one has none.
type reserve struct{ path string }

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

// newReserve is the one that the bundle was made with. An agent that follows another
// has one of its own, unless the disk is full by now.
func newReserve(b Bundle, replicas int) *reserve {
	if b.allocateReserve(replicas) != nil {
		return nil
	}
	return &reserve{b.path(reserveFile)}
}

func (b Bundle) allocateReserve(replicas int) error {
	path := b.path(reserveFile)
	f, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := allocate(f, int64(reserveBase+reserveReplica*replicas)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// release gives the room back and reports whether there was any.
func (r *reserve) release() bool {
	if r == nil || r.path == "" {
		return false
	}
	err := os.Remove(r.path)
	r.path = ""
	return err == nil
}
