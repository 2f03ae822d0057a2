package logstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHubPace: a file that changes all the time wakes its followers from time to time, and
// after the last change.
func TestHubPace(t *testing.T) {
	t.Parallel()
	h := NewHub()
	defer h.Close()
	name := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	changed := make(chan struct{}, 1)
	h.Watch(name, changed)
	size := make(chan int64)
	begun := time.Now()
	go func() {
		for range 5000 {
			if _, err := f.WriteString("a line\n"); err != nil {
				t.Error(err)
			}
		}
		fi, err := f.Stat()
		if err != nil {
			t.Error(err)
		}
		size <- fi.Size()
	}()
	wakes, seen, want := 0, int64(0), int64(-1)
	for seen != want {
		select {
		case want = <-size:
		case <-changed:
			wakes++
			fi, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			seen = fi.Size()
		case <-time.After(time.Minute):
			t.Fatalf("got %d of %d bytes after %d wakes, want all", seen, want, wakes)
		}
	}
	if most := int(time.Since(begun)/min(pace, pollPause)) + 2; wakes > most {
		t.Errorf("got %d wakes in %v, want at most %d", wakes, time.Since(begun), most)
	}
}

// TestHubPollsFirst: a hub starts to watch only after polling for some time, and reports
// changes before and after that.
func TestHubPollsFirst(t *testing.T) {
	t.Parallel()
	h := NewHub()
	defer h.Close()
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	watches := func() bool {
		h.change.Lock()
		defer h.change.Unlock()
		return h.watcher != nil
	}
	changed := make(chan struct{}, 1)
	begun := time.Now()
	h.Watch(name, changed)
	<-changed
	if watches() && time.Since(begun) < pollTime {
		t.Errorf("watching after %v, want polling for %v", time.Since(begun), pollTime)
	}
	for !watches() {
		time.Sleep(time.Millisecond)
	}
	for range 4 { // two earlier wakes may be pending
		if err := os.WriteFile(name, []byte("a line\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatal("a change of a watched file: got no wake, want one")
		}
	}
}
