package logstore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
)

// rawReader reads a Raw piece by piece.
type rawReader struct {
	t   testing.TB
	r   *Raw
	ctx context.Context
}

func openRaw(t testing.TB, a *app, o backend.TerminalOptions) *rawReader {
	t.Helper()
	r, err := OpenRaw(a.source(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() { cancel(); r.Close() })
	return &rawReader{t, r, ctx}
}

// expect reads until it has the bytes and returns the number of skipped bytes.
func (r *rawReader) expect(want string) (skipped int64) {
	r.t.Helper()
	var got strings.Builder
	for got.Len() < len(want) {
		o, err := r.r.Next(r.ctx)
		if err != nil {
			r.t.Fatalf("got %q, %v; want %q", got.String(), err, want)
		}
		skipped += o.Skipped
		got.Write(o.Data)
	}
	if got.String() != want {
		r.t.Fatalf("got %q, want %q", got.String(), want)
	}
	return skipped
}

func (r *rawReader) end() {
	r.t.Helper()
	if o, err := r.r.Next(r.ctx); !errors.Is(err, io.EOF) {
		r.t.Fatalf("got %q, %v, want the end", o.Data, err)
	}
}

// TestRawWithoutDelay: bytes do not wait for the end of a line, and follow across attempts.
func TestRawWithoutDelay(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r := openRaw(t, a, backend.TerminalOptions{All: true})
	w := a.begin(t)
	begun := time.Now()
	for _, text := range []string{"p", "rompt> ", "10%\r20%", "\xff\x00", "\r\n"} {
		write(t, w, Stdout, text)
		write(t, w, Stderr, "not this")
		r.expect(text)
	}
	if took := time.Since(begun); took > 5*partialRest {
		t.Errorf("five pieces took %v, want at most %v", took, 5*partialRest)
	}
	must(t, w.Close(false))
	w = a.begin(t)
	write(t, w, Stdout, "again")
	must(t, w.Close(false))
	a.end(t)
	o, err := r.r.Next(r.ctx)
	if err != nil || string(o.Data) != "again" || o.Attempt != 1 {
		t.Fatalf("got %+v, %v, want the second attempt", o, err)
	}
	r.end()
	all := openRaw(t, a, backend.TerminalOptions{All: true})
	all.expect("prompt> 10%\r20%\xff\x00\r\nagain")
	all.end()
}

// TestRawTail: a late client starts at a line near the end of the last attempt.
func TestRawTail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		tail       int64
	}{
		{"short", "short", 100},
		{"", "", 100},
		{"one\ntwo\nthree", "three", 8},
		{"one\ntwo\nthree\n", "three\n", 9},
		{"no line end at all", "at all", 6},
		{"ends with a line\n", "line\n", 5},
		{"one\ntwo", "", 0},
	} {
		a := newApp(t)
		must(t, a.begin(t).Close(false))
		w := a.begin(t)
		if c.text != "" {
			write(t, w, Stdout, c.text)
		}
		r := openRaw(t, a, backend.TerminalOptions{Tail: c.tail})
		r.expect(c.want)
		write(t, w, Stdout, "+more")
		must(t, w.Close(false))
		a.end(t)
		if c.want == "" { // nothing was read before
			r.r.Close()
			continue
		}
		r.expect("+more")
		r.end()
	}
}

// TestRawLag: a client that is far behind learns how much was skipped.
func TestRawLag(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	w := a.begin(t)
	r := openRaw(t, a, backend.TerminalOptions{All: true, Tail: 10, Lag: 1000})
	write(t, w, Stdout, "first\n")
	if skipped := r.expect("first\n"); skipped != 0 {
		t.Errorf("got %d skipped, want 0", skipped)
	}
	write(t, w, Stdout, strings.Repeat("x", 2000)+"\nlast\n")
	if skipped := r.expect("last\n"); skipped != 2001 {
		t.Errorf("got %d skipped, want 2001", skipped)
	}
	write(t, w, Stdout, strings.Repeat("y", 1000))
	if skipped := r.expect(strings.Repeat("y", 1000)); skipped != 0 {
		t.Errorf("got %d skipped, want 0", skipped)
	}
	must(t, w.Close(false))
	a.end(t)
	r.end()
	behind := openRaw(t, a, backend.TerminalOptions{All: true, Tail: 10, Lag: 1})
	if skipped := behind.expect(strings.Repeat("y", 10)); skipped != 6+2001+5+990 {
		t.Errorf("got %d skipped, want %d", skipped, 6+2001+5+990)
	}
}

// TestRawClose: a waiting Next returns.
func TestRawClose(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.begin(t)
	r := openRaw(t, a, backend.TerminalOptions{})
	time.AfterFunc(10*time.Millisecond, func() { r.r.Close() })
	if _, err := r.r.Next(r.ctx); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v, want fs.ErrClosed", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
