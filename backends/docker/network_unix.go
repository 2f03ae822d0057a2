//go:build unix

package docker

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"
)

// lockWait bounds the wait for others who make the network: the lock only saves
// work, ensureNetwork is right without it.
const lockWait = 5 * time.Second

// networkLock is a file that all users of this machine can lock.
func networkLock() string { return filepath.Join(os.TempDir(), "torchx-docker-network.lock") }

// shareNetwork makes the app's network if it is not there, one app after the other.
func (l *launcher) shareNetwork(ctx context.Context) error {
	if f, err := openShared(networkLock()); err == nil {
		defer f.Close()
		for deadline := time.Now().Add(lockWait); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
				break
			}
		}
	}
	return ensureNetwork(ctx, l.engine.Client, l.request.Network)
}

// openShared opens a file that may be another user's; reading is enough to lock it.
func openShared(path string) (*os.File, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644) //nolint:gosec // it is empty, and to be locked by everybody
	}
	return f, err
}

// begin starts a container in a network that is there.
func (l *launcher) begin(ctx context.Context, id string) error {
	for try := 0; ; try++ {
		err := l.engine.do(ctx, func() error { return l.engine.ContainerStart(ctx, id, container.StartOptions{}) })
		if err == nil || try == networkTries || !troubled(err, l.request.Network) {
			return err
		}
		if err := l.engine.do(ctx, func() error { return l.shareNetwork(ctx) }); err != nil {
			return err
		}
	}
}
