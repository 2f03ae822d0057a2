package logstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
)

// countLog writes two attempts: line i of each stream arrives at second i.
func countLog(t *testing.T, lines int) Source {
	t.Helper()
	dir := t.TempDir()
	for attempt := range 2 {
		folder := filepath.Join(dir, strconv.Itoa(attempt))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		w, err := Create(folder)
		if err != nil {
			t.Fatal(err)
		}
		for i := range lines {
			for s := range Stream(2) {
				text := fmt.Sprintf("%d %v %d\n", attempt, s, i)
				if i == lines-1 && s == Stderr {
					text = strings.TrimSuffix(text, "\n")
				}
				if err := w.Append(s, []byte(text), time.Unix(int64(1000*(attempt+1)+i), int64(s))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
	}
	return Source{
		Dir:   func(attempt int) string { return filepath.Join(dir, strconv.Itoa(attempt)) },
		State: func() (int, bool, error) { return 2, true, nil },
	}
}

func readLines(t *testing.T, r backend.LogReader) (lines []string) {
	t.Helper()
	var text strings.Builder
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b.Data)
		if b.Data != nil && !strings.HasSuffix(text.String(), "\n") {
			text.WriteString("\n")
		}
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// TestCounter: counts, times and SeekLine agree with what is read.
func TestCounter(t *testing.T) {
	t.Parallel()
	const lines = 300
	src := countLog(t, lines)
	for name, o := range map[string]backend.LogOptions{
		"last attempt": {Tail: -1}, "stdout": {Tail: -1, Stream: backend.Stdout}, "stderr": {Tail: -1, Stream: backend.Stderr},
		"first attempt": {Tail: -1, Attempt: new(int)}, "all attempts": {Tail: -1, AllAttempts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func() backend.LogCounter {
				r, err := Open(src, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { r.Close() })
				return r.(backend.LogCounter)
			}
			all := readLines(t, open())
			c, err := open().Count()
			if err != nil || c.Lines != int64(len(all)) {
				t.Errorf("got %d lines and error %v, want %d", c.Lines, err, len(all))
			}
			if n, err := open().LinesBefore(c.First); err != nil || n != 0 {
				t.Errorf("got %d lines before the first and error %v, want none", n, err)
			}
			if n, err := open().LinesBefore(c.Last.Add(1)); err != nil || n != c.Lines {
				t.Errorf("got %d lines before the end and error %v, want %d", n, err, c.Lines)
			}
			for _, first := range []int{1, 2, len(all) / 2, len(all)} {
				r := open()
				if err := r.SeekLine(int64(first)); err != nil {
					t.Fatal(err)
				}
				if got := readLines(t, r); strings.Join(got, "\n") != strings.Join(all[first-1:], "\n") {
					t.Errorf("from line %d: got %d lines that begin with %q, want %d that begin with %q", first, len(got), got[0], len(all)-first+1, all[first-1])
				}
			}
		})
	}
	r, err := Open(src, backend.LogOptions{Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := r.(backend.LogCounter).LinesBefore(time.Unix(2010, 0)); err != nil || n != 20 {
		t.Errorf("got %d lines before second 10 and error %v, want 20", n, err)
	}
}
