package agent

import (
	"errors"
	"fmt"
	"os"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// reserveFile reserves disk space for the app's result, so that replicas' exits and the
// final status can be written after logs have filled the disk.
const reserveFile = ".reserve"

// Bytes reserved for the app and for each replica (its exit, and twice its part of the
// status, since the old file exists until the new one is complete).
const (
	reserveBase    = 64 << 10
	reserveReplica = 2 << 10
)

// reserve is reserved disk space; a nil reserve has none.
type reserve struct{ path string }

// makeReserve reserves disk space before the app starts. If the system does not support
// that, the app runs without; the error means that the disk is full.
func (b Bundle) makeReserve(replicas int) error {
	if err := b.allocateReserve(replicas); isNoSpace(err) {
		return fmt.Errorf("reserve disk space for the app's result: %w", err)
	}
	return nil
}

func replicasOf(app *spec.App) (n int) {
	for i := range app.Roles {
		n += app.Roles[i].NumReplicas
	}
	return n
}

// newReserve returns the reserve of the bundle. An agent that replaces a dead one
// allocates a new reserve, unless the disk is full.
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

// release frees the reserved space and reports whether there was any.
func (r *reserve) release() bool {
	if r == nil || r.path == "" {
		return false
	}
	err := os.Remove(r.path)
	r.path = ""
	return err == nil
}
