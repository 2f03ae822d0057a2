// Package filelock locks files between processes, as flock(2) does: the lock belongs to
// the open file, so it ends with the last process that has that open, however it ends.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"torchx/runtime/safefile"
)

// ErrHeld says that another open file holds the lock.
var ErrHeld = errors.New("lock is held")

// Modes of lock; without them it takes a shared lock and does not wait.
const (
	exclusive = 1 << iota
	blocking
)

// Lock is a held exclusive lock. A child process that is passed File holds it, too.
type Lock struct{ File *os.File }

// Close releases this process's hold.
func (l *Lock) Close() error { return l.File.Close() }

// open opens a lock file, which is created if missing. Reading is enough to hold it.
func open(path string) (*os.File, error) {
	f, err := safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		var readErr error
		if f, readErr = safefile.Open(path); readErr != nil {
			return nil, fmt.Errorf("open lock: %w", err)
		}
	}
	return f, nil
}

// TryAcquire takes the lock if it is free. Errors: ErrHeld.
func TryAcquire(path string) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return finish(f, lock(f, exclusive))
}

// Acquire waits for the lock as long as it takes.
func Acquire(path string) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return finish(f, lock(f, exclusive|blocking))
}

func finish(f *os.File, err error) (*Lock, error) {
	switch {
	case err == nil:
		return &Lock{f}, nil
	case errors.Is(err, ErrHeld):
	default:
		err = fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	f.Close()
	return nil, err
}

// AcquireWithin waits for the lock; the system serves processes in the order in which
// they came. Errors: ErrHeld when the time is over.
func AcquireWithin(path string, d time.Duration) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // a lock that comes as the time ends is either returned or released
	expired := false
	result := make(chan error, 1)
	go func() {
		err := lock(f, exclusive|blocking)
		mu.Lock()
		defer mu.Unlock()
		if expired {
			f.Close()
		}
		result <- err
	}()
	select {
	case err = <-result:
		return finish(f, err)
	case <-time.After(d):
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case err = <-result:
		return finish(f, err)
	default:
		expired = true
		return nil, ErrHeld
	}
}

// Held reports whether the lock is held. If that cannot be told the answer is yes: the
// callers must not take a live process for a dead one. What is not a regular file is no
// lock.
func Held(path string) bool {
	f, err := safefile.Open(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) && !errors.Is(err, safefile.ErrNotRegular)
	}
	defer f.Close()
	return lock(f, 0) != nil
}
