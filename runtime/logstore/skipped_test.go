package logstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"torchx/runtime/backend"
)

// A client that counts lines knows its position even if lines were trimmed.
func TestSkippedLinesAreReported(t *testing.T) {
	t.Parallel()
	const total = 900
	dir := t.TempDir()
	var chunks []chunk
	for n := range total {
		chunks = append(chunks, chunk{Stream(min(1, n%3)), fmt.Sprintf("line %d\n", n), time.Duration(n) * time.Second})
	}
	writeLimited(t, dir, chunks, 2000)
	g := readGone(t, dir)
	lines := map[backend.Stream]int64{backend.Combined: total, backend.Stdout: total / 3, backend.Stderr: total - total/3}
	missing := map[backend.Stream]int64{
		backend.Combined: g.lines[0] + g.lines[1], backend.Stdout: g.lines[0], backend.Stderr: g.lines[1],
	}
	for stream, count := range lines {
		for _, from := range []int64{1, 7, count / 2, count - 5} {
			r, err := Open(oneAttempt(dir), backend.LogOptions{Stream: stream, FromLine: from, Tail: -1})
			if err != nil {
				t.Fatal(err)
			}
			at, skipped := from-1, int64(0)
			for {
				b, err := r.Next(context.Background())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				skipped += b.Skipped
				at += b.Skipped + int64(bytes.Count(b.Data, []byte{'\n'}))
			}
			r.Close()
			if at != count || from == 1 && skipped != missing[stream] {
				t.Errorf("%s from line %d: got end at line %d of %d, %d skipped of %d trimmed lines", stream, from, at, count, skipped, missing[stream])
			}
		}
	}
}
