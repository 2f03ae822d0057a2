package logstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
)

var epoch = time.Unix(1_700_000_000, 0)

// chunk is one Append.
type chunk struct {
	s    Stream
	data string
	at   time.Duration // after epoch
}

// line is a line that a reader must return.
type line struct {
	s    Stream
	text string
	at   time.Duration
}

func writeLog(t testing.TB, dir string, chunks []chunk) {
	t.Helper()
	writeLimited(t, dir, chunks, 0)
}

func writeLimited(t testing.TB, dir string, chunks []chunk, limit int64) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := CreateLimited(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		if err := w.Append(c.s, []byte(c.data), epoch.Add(c.at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
}

// naive computes the lines of a log without an index.
func naive(chunks []chunk) (lines []line, open []line) {
	var rest [2]string
	var last [2]int
	for i, c := range chunks {
		if c.data == "" {
			continue
		}
		last[c.s] = i
		for part := range strings.Lines(c.data) {
			rest[c.s] += part
			if strings.HasSuffix(part, "\n") {
				lines = append(lines, line{c.s, rest[c.s], c.at})
				rest[c.s] = ""
			}
		}
	}
	order := []Stream{Stdout, Stderr}
	if last[1] < last[0] {
		order = []Stream{Stderr, Stdout}
	}
	for _, s := range order {
		if rest[s] != "" {
			open = append(open, line{s, rest[s], chunks[last[s]].at})
		}
	}
	return lines, open
}

// naiveSelect applies options to a log of one attempt.
func naiveSelect(chunks []chunk, o backend.LogOptions) []line {
	lines, open := naive(chunks)
	var out []line
	number := int64(0)
	for _, l := range append(lines, open...) {
		if o.Stream == backend.Stdout && l.s != Stdout || o.Stream == backend.Stderr && l.s != Stderr {
			continue
		}
		number++
		at := epoch.Add(l.at)
		if !o.Since.IsZero() && at.Before(o.Since) || !o.Until.IsZero() && !at.Before(o.Until) {
			continue
		}
		if number < o.FromLine || o.ToLine > 0 && number > o.ToLine {
			continue
		}
		out = append(out, l)
	}
	if o.Tail >= 0 && int64(len(out)) > o.Tail {
		out = out[int64(len(out))-o.Tail:]
	}
	return out
}

func oneAttempt(dir string) Source {
	return Source{
		Dir:   func(int) string { return dir },
		State: func() (int, bool, error) { return 1, true, nil },
	}
}

// collect reads everything and checks the form of the blocks.
func collect(t testing.TB, src Source, o backend.LogOptions) (lines []line, notices []string) {
	t.Helper()
	r, err := Open(src, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return drain(t, r)
}

func drain(t testing.TB, r backend.LogReader) (lines []line, notices []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var rest [2]string
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Notice != "" {
			notices = append(notices, b.Notice)
			continue
		}
		if len(b.Data) == 0 {
			t.Fatal("got an empty block, want data or a notice")
		}
		s := Stdout
		if b.Stream == backend.Stderr {
			s = Stderr
		}
		for part := range bytes.Lines(b.Data) {
			text := rest[s] + string(part)
			rest[s] = ""
			if b.Partial && part[len(part)-1] != '\n' {
				rest[s] = text
				continue
			}
			lines = append(lines, line{s, text, b.Time.Sub(epoch)})
		}
	}
	for s, text := range rest {
		if text != "" { // returned as partial, and never finished
			lines = append(lines, line{Stream(s), text, -1})
		}
	}
	return lines, notices
}

func compare(t testing.TB, what string, got, want []line) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i < len(got) && i < len(want) && got[i] == want[i] {
			continue
		}
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = describe(got[i])
		}
		if i < len(want) {
			w = describe(want[i])
		}
		if g != w {
			t.Fatalf("%s: line %d of %d (want %d): got\n %s, want\n %s", what, i+1, len(got), len(want), g, w)
		}
	}
}

func describe(l line) string {
	text := l.text
	if len(text) > 60 {
		text = fmt.Sprintf("%s…(%d bytes)", text[:60], len(text))
	}
	return fmt.Sprintf("%s %s %q", l.s, l.at, text)
}

// chunksOf decodes appends from fuzz bytes. Times are equal or 10 ms apart, so that chunks
// that share a record also share their time.
func chunksOf(data []byte) []chunk {
	var chunks []chunk
	var at time.Duration
	for len(data) >= 2 {
		op, n := data[0], int(data[1]%16)
		data = data[2:]
		n = min(n, len(data))
		text := bytes.Map(func(r rune) rune {
			if r%4 == 0 {
				return '\n'
			}
			return 'a' + r%26
		}, data[:n])
		data = data[n:]
		at += time.Duration(op>>4) * 10 * time.Millisecond
		if op&8 != 0 { // as long as several windows
			text = bytes.Repeat(append(text, 'x'), 900)
		}
		chunks = append(chunks, chunk{Stream(op & 1), string(text), at})
	}
	return chunks
}

func optionsOf(b []byte) backend.LogOptions {
	for len(b) < 8 {
		b = append(b, 0)
	}
	o := backend.LogOptions{Stream: backend.Streams[b[0]%3], Tail: -1}
	at := func(v byte) time.Time {
		if v == 0 {
			return time.Time{}
		}
		return epoch.Add(time.Duration(v) * 5 * time.Millisecond)
	}
	if b[1]&1 != 0 {
		o.Since = at(b[2])
	}
	if b[1]&2 != 0 {
		o.Until = at(b[3])
	}
	if b[1]&4 != 0 {
		o.FromLine = int64(b[4])
	}
	if b[1]&8 != 0 {
		o.ToLine = int64(b[5])
	}
	if b[1]&16 != 0 {
		o.Tail = int64(b[6] % 32)
	}
	return o
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x0fhello\nworld\nabc\x11\x0fother\nline\nxyz ab"), []byte{0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte("\x08\x0f1234567890abcde\x19\x0f1234567890abcde\x28\x0f@@@@@@@@@@@@@@@"), []byte{0, 31, 1, 90, 2, 200, 7, 0})
	f.Fuzz(func(t *testing.T, data, opts []byte) {
		chunks, o := chunksOf(data), optionsOf(opts)
		dir := filepath.Join(t.TempDir(), "0")
		writeLog(t, dir, chunks)
		got, notices := collect(t, oneAttempt(dir), o)
		if len(notices) > 0 {
			t.Fatalf("got notices %q, want none", notices)
		}
		compare(t, fmt.Sprintf("%+v", o), got, naiveSelect(chunks, o))
	})
}
