package provenance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/filelock"
)

// pendingFolder is the folder of a home with a folder for each process that collects.
const pendingFolder = "checkouts"

// lockName is the file in a folder of pendingFolder that the process holds.
const lockName = "lock"

const (
	waitLimit = 30 * time.Second // longer than a collection takes
	waitPause = 2 * time.Millisecond
	staleAge  = time.Minute // older folders without a process are left over
)

func pendingDir(home, handle string) string {
	sum := sha256.Sum256([]byte(handle))
	return filepath.Join(home, pendingFolder, hex.EncodeToString(sum[:16]))
}

// Begin creates the folder of the process that collects for an app and takes its lock, which
// the caller passes to that process.
func Begin(home, handle string) (*filelock.Lock, error) {
	dir := pendingDir(home, handle)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return filelock.TryAcquire(filepath.Join(dir, lockName))
}

// Scratch creates an empty folder for temporary files of the process that collects for an app.
func Scratch(home, handle string) (string, error) {
	return os.MkdirTemp(pendingDir(home, handle), "")
}

// End removes the folder of an app, and those of processes that died.
func End(home, handle string) {
	_ = os.RemoveAll(pendingDir(home, handle)) // on failure a later End removes it
	entries, _ := os.ReadDir(filepath.Join(home, pendingFolder))
	for _, e := range entries {
		dir := filepath.Join(home, pendingFolder, e.Name())
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAge &&
			!filelock.Held(filepath.Join(dir, lockName)) {
			_ = os.RemoveAll(dir)
		}
	}
}

// Wait waits until no process collects for an app, at most half a minute.
func Wait(ctx context.Context, home, handle string) {
	path := filepath.Join(pendingDir(home, handle), lockName)
	for deadline := time.Now().Add(waitLimit); filelock.Held(path) && time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(waitPause):
		}
	}
}
