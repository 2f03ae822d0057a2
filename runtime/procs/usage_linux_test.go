package procs

import (
	"os"
	"testing"
	"time"
)

func TestParseSample(t *testing.T) {
	t.Parallel()
	s, ok := parseSample([]byte("42 (a) b) S 7 41 40 0 -1 4194304 1 2 3 4 100 50 20 10 20 0 1 0 12345 1000000 256 18446744073709551615 1 1\n"), 4096)
	if want := (sample{42, 7, 40, Usage{1800 * time.Millisecond, 1 << 20}, 12345, 1, false}); !ok || s != want {
		t.Errorf("got %+v, %v, want %+v", s, ok, want)
	}
	for _, bad := range []string{"", "42 (a", "42 (a) S 1 2", "x (a) S 7 41 40 0 -1 4194304 1 2 3 4 100 50 20 10 20 0 1 0 12345 1000000 256 1"} {
		if s, ok := parseSample([]byte(bad), 4096); ok {
			t.Errorf("%q: got %+v, want an error", bad, s)
		}
	}
}

func TestTreesOfThisProcess(t *testing.T) {
	t.Parallel()
	if u := Trees([]int{os.Getpid()})[os.Getpid()]; u.RSS < 1<<20 {
		t.Errorf("got %+v, want at least 1 MiB", u)
	}
}
