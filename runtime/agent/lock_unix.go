//go:build unix

package agent

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Lock is a held flock: it belongs to the open file, so it survives the process
// that took it if the file was passed on, and ends with the last holder.
type Lock struct{ File *os.File }

func acquire(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil && cannotWrite(err) {
		f, err = os.Open(path) // reading is enough to hold it
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errHeld
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

// acquireWithin waits for a lock in the order in which processes came, which the
// system sees to. Errors: errHeld when the time is over.
func acquireWithin(path string, d time.Duration) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	fd := int(f.Fd())
	var mu sync.Mutex // between the lock that comes and the time that is over
	late := false
	got := make(chan error, 1)
	go func() {
		err := flock(fd)
		mu.Lock()
		defer mu.Unlock()
		if late {
			f.Close()
		}
		got <- err
	}()
	select {
	case err = <-got:
	case <-time.After(d):
		mu.Lock()
		defer mu.Unlock()
		select {
		case err = <-got:
		default:
			late = true
			return nil, errHeld
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

// flock waits however long it takes.
func flock(fd int) error {
	for {
		if err := unix.Flock(fd, unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Close lets go of this process's hold.
func (l *Lock) Close() error { return l.File.Close() }

// Held reports whether anybody holds the bundle's lock. When it cannot be told,
// the answer is yes: a live app must never be reconciled.
func (b Bundle) Held() bool { return held(b.path(lockFile)) }

func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	return err != nil
}

func isNoSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func isNotEmpty(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)
}
