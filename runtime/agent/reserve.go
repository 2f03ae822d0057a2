package agent

import "os"

// reserveFile keeps room on the disk for the app's result: logs may fill it, and
// then the exits of replicas and the final status still find their place.
const reserveFile = ".reserve"

// Bytes reserved: for the app, and for each replica (its exit, twice its part of
// the status, since the old one is there until the new one is whole).
const (
	reserveBase    = 64 << 10
	reserveReplica = 2 << 10
)

// reserve is the room; a nil one has none.
type reserve struct{ path string }

// newReserve is best effort: a disk that is full already leaves none.
func newReserve(b Bundle, replicas int) *reserve {
	path := b.path(reserveFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil
	}
	defer f.Close()
	if allocate(f, int64(reserveBase+reserveReplica*replicas)) != nil {
		_ = os.Remove(path)
		return nil
	}
	return &reserve{path}
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
