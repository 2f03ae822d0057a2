package logstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHubPace: a file that changes all the time wakes its followers up once in a
// while, and after the last change.
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
	if !h.watch(name, changed) {
		t.Fatal("the file cannot be watched")
	}
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
		case <-time.After(10 * time.Second):
			t.Fatalf("seen %d of %d bytes after %d wakes", seen, want, wakes)
		}
	}
	if most := int(time.Since(begun)/pace) + 2; wakes > most {
		t.Errorf("%d wakes in %v, want at most %d", wakes, time.Since(begun), most)
	}
}
