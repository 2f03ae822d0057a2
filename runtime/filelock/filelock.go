// Package filelock locks files between processes, as flock(2) does. The lock belongs to the open
// file: it ends when the last process that has the file open closes it or dies.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"torchx/runtime/safefile"
)

// ErrHeld means that another open file holds the lock.
var ErrHeld = errors.New("lock is held")

// Modes of lock; by default it takes a shared lock without waiting.
const (
	exclusive = 1 << iota
	blocking
)

// Lock is a held exclusive lock. A child process that inherits File holds it, too.
type Lock struct{ File *os.File }

// Close releases this process's hold.
func (l *Lock) Close() error { return l.File.Close() }

// open opens a lock file, and creates it if missing. Read access is enough to hold it.
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

// Acquire waits for the lock without a time limit.
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

// AcquireWithin waits for the lock; the system serves processes in the order in which they
// arrived. Errors: ErrHeld after the time limit.
func AcquireWithin(path string, d time.Duration) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // a lock that arrives at the time limit is either returned or released
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

// Held reports whether the lock is held. If that is unknown, it returns true: callers must not
// treat a live process as dead. A special file is not a lock.
func Held(path string) bool {
	f, err := safefile.Open(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) && !errors.Is(err, safefile.ErrNotRegular)
	}
	defer f.Close()
	return lock(f, 0) != nil
}
