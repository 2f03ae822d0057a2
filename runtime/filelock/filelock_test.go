package filelock

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	if Held(path) {
		t.Error("a missing file: got held, want free")
	}
	l, err := TryAcquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if !Held(path) {
		t.Error("got free, want held")
	}
	if _, err := TryAcquire(path); !errors.Is(err, ErrHeld) {
		t.Errorf("TryAcquire: got %v, want %v", err, ErrHeld)
	}
	if _, err := AcquireWithin(path, time.Millisecond); !errors.Is(err, ErrHeld) {
		t.Errorf("AcquireWithin: got %v, want %v", err, ErrHeld)
	}
	next := make(chan error, 2)
	for range cap(next) {
		go func() {
			l, err := AcquireWithin(path, time.Minute)
			if err == nil {
				err = l.Close()
			}
			next <- err
		}()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range cap(next) {
		if err := <-next; err != nil {
			t.Errorf("after the release: got %v, want nil", err)
		}
	}
	if l, err = Acquire(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// The call that did not wait long enough takes and releases the lock when its turn comes.
	for deadline := time.Now().Add(time.Minute); Held(path); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("after the last release: got held, want free")
		}
	}
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "lock")
	for name, acquire := range map[string]func(string) (*Lock, error){"TryAcquire": TryAcquire, "Acquire": Acquire} {
		if _, err := acquire(path); err == nil || errors.Is(err, ErrHeld) {
			t.Errorf("%s: got %v, want an error of the folder", name, err)
		}
	}
	if Held(path) {
		t.Error("got held, want free")
	}
}
