package logstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/test/openfiles"
)

// app is an app whose state a test changes.
type app struct {
	dir      string
	attempts atomic.Int32
	done     atomic.Bool
}

func newApp(t testing.TB) *app { return &app{dir: t.TempDir()} }

func (a *app) source() Source {
	return Source{
		Dir:   func(n int) string { return filepath.Join(a.dir, fmt.Sprint(n)) },
		State: func() (int, bool, error) { d := a.done.Load(); return int(a.attempts.Load()), d, nil },
		Watch: []string{a.dir},
	}
}

// begin starts an attempt and returns its writer.
func (a *app) begin(t testing.TB) *Writer {
	t.Helper()
	dir := filepath.Join(a.dir, fmt.Sprint(a.attempts.Load()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	a.attempts.Add(1)
	return w
}

// end makes the app terminal; the change of its folder wakes followers.
func (a *app) end(t testing.TB) {
	t.Helper()
	a.done.Store(true)
	if err := os.WriteFile(filepath.Join(a.dir, "status.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, w *Writer, s Stream, text string) {
	t.Helper()
	if err := w.Append(s, []byte(text), time.Now()); err != nil {
		t.Fatal(err)
	}
}

// lineReader reads a follower's output piece by piece.
type lineReader struct {
	t   testing.TB
	r   backend.LogReader
	ctx context.Context
}

func openFollower(t testing.TB, src Source, o backend.LogOptions) *lineReader {
	t.Helper()
	o.Follow = true
	r, err := Open(src, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(func() { cancel(); r.Close() })
	return &lineReader{t, r, ctx}
}

// want reads until it has the text.
func (l *lineReader) want(text string) {
	l.t.Helper()
	var got string
	for len(got) < len(text) {
		b, err := l.r.Next(l.ctx)
		if err != nil {
			l.t.Fatalf("got %q, %v; want %q", got, err, text)
		}
		got += string(b.Data) + b.Notice
	}
	if got != text {
		l.t.Fatalf("got %q, want %q", got, text)
	}
}

func (l *lineReader) wantEnd() {
	l.t.Helper()
	if b, err := l.r.Next(l.ctx); !errors.Is(err, io.EOF) {
		l.t.Fatalf("got %q, %v; want the end", b.Data, err)
	}
}

func TestFollowAcrossAttempts(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r := openFollower(t, a.source(), all) // before the first attempt
	zero := 0
	only := openFollower(t, a.source(), backend.LogOptions{Tail: -1, Attempt: &zero})
	w := a.begin(t)
	write(t, w, Stdout, "one\ntw")
	r.want("one\n")
	write(t, w, Stderr, "err\n")
	r.want("err\n")
	write(t, w, Stdout, "o\nunfinished")
	r.want("two\n")
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	w = a.begin(t)
	r.want("unfinished")
	only.want("one\nerr\ntwo\nunfinished")
	only.wantEnd()
	write(t, w, Stdout, "again\n")
	r.want("again\n")
	write(t, w, Stdout, "last")
	w.Close(false)
	a.end(t)
	r.want("last")
	r.wantEnd()
	r.wantEnd()
}

func TestFollowStartsWithTail(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	w := a.begin(t)
	write(t, w, Stdout, "1\n2\n3\nhal")
	two := openFollower(t, a.source(), backend.LogOptions{Tail: 2})
	none := openFollower(t, a.source(), backend.LogOptions{Tail: 0})
	from := openFollower(t, a.source(), backend.LogOptions{Tail: -1, FromLine: 5, ToLine: 6})
	since := openFollower(t, a.source(), backend.LogOptions{Tail: -1, Since: time.Now().Add(time.Hour)})
	write(t, w, Stdout, "f\n5\n6\n7\n")
	two.want("3\nhalf\n5\n6\n7\n")
	none.want("half\n5\n6\n7\n")
	from.want("5\n6\n")
	from.wantEnd()
	w.Close(false)
	a.end(t)
	two.wantEnd()
	since.wantEnd()
}

func TestFollowEndsAtUntil(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	w := a.begin(t)
	defer w.Close(false)
	until := time.Now().Add(300 * time.Millisecond)
	r := openFollower(t, a.source(), backend.LogOptions{Tail: -1, Until: until})
	write(t, w, Stdout, "before\n")
	if err := w.Append(Stderr, []byte("after\n"), until); err != nil {
		t.Fatal(err)
	}
	r.want("before\n")
	r.wantEnd()
	b := newApp(t)
	defer b.begin(t).Close(false)
	until = time.Now().Add(200 * time.Millisecond)
	openFollower(t, b.source(), backend.LogOptions{Tail: -1, Until: until}).wantEnd()
	if time.Now().Before(until) {
		t.Error("ended before Until, want no earlier")
	}
}

func TestFollowPartial(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	w := a.begin(t)
	r := openFollower(t, a.source(), backend.LogOptions{Tail: -1, Partial: true})
	write(t, w, Stdout, "done\nPassword: ")
	r.want("done\n")
	b, err := r.r.Next(r.ctx)
	if err != nil || !b.Partial || string(b.Data) != "Password: " {
		t.Fatalf("got %q, partial %v, %v; want the prompt as partial", b.Data, b.Partial, err)
	}
	write(t, w, Stdout, "secret\n")
	b, err = r.r.Next(r.ctx)
	if err != nil || b.Partial || string(b.Data) != "secret\n" {
		t.Fatalf("got %q, partial %v, %v; want the whole line", b.Data, b.Partial, err)
	}
	// A progress bar that changes all the time is shown, too.
	unsupported, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(30 * time.Millisecond); ; {
			select {
			case <-tick.C:
				_ = w.Append(Stderr, []byte("\r50%"), time.Now())
			case <-unsupported:
				return
			}
		}
	}()
	b, err = r.r.Next(r.ctx)
	if err != nil || !b.Partial || !strings.HasPrefix(string(b.Data), "\r50%") {
		t.Fatalf("got %q, partial %v, %v; want the bar as partial", b.Data, b.Partial, err)
	}
	close(unsupported)
	<-ended
	w.Close(false)
}

func TestNextEndsWithContextAndClose(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		a := newApp(t)
		if begun {
			defer a.begin(t).Close(false)
		}
		r, err := Open(a.source(), backend.LogOptions{Tail: -1, Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error, 1)
		next := func(ctx context.Context) { _, err := r.Next(ctx); result <- err }
		go next(ctx)
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("after cancel: got %v, want context.Canceled", err)
		}
		go next(context.Background())
		r.Close()
		if err := <-result; !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after Close: got %v, want fs.ErrClosed", err)
		}
	}
}

func TestManyFollowersShareAHub(t *testing.T) {
	t.Parallel()
	hub := NewHub()
	defer hub.Close()
	a := newApp(t)
	w := a.begin(t)
	src := a.source()
	src.Hub = hub
	var followers []*lineReader
	for range openfiles.AtMost(t, 300, 4) { // more than the limit of inotify instances
		followers = append(followers, openFollower(t, src, all))
	}
	write(t, w, Stdout, "hello\n")
	for _, f := range followers {
		f.want("hello\n")
	}
	w.Close(false)
	a.end(t)
	for _, f := range followers {
		f.wantEnd()
		f.r.Close()
	}
	if n := len(hub.watches); n != 0 {
		t.Errorf("got %d watches after Close, want none", n)
	}
}

// TestWriterAndFollowers writes both streams concurrently while readers follow, and checks
// that each reader gets every byte once and in whole lines.
func TestWriterAndFollowers(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	w := a.begin(t)
	var sent [2]bytes.Buffer
	var writers, readers sync.WaitGroup
	got := make([][2]bytes.Buffer, 3)
	for i := range got {
		r, err := Open(a.source(), backend.LogOptions{Tail: -1, Follow: true, Partial: i == 2})
		if err != nil {
			t.Fatal(err)
		}
		readers.Go(func() { followAll(t, r, &got[i]) })
	}
	for s := range sent {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(s), 7))
			for n := range 3000 {
				text := fmt.Appendf(nil, "%s %d %s", Stream(s), n, strings.Repeat("x", rng.IntN(200)))
				if rng.IntN(4) > 0 {
					text = append(text, '\n')
				}
				if rng.IntN(300) == 0 {
					text = bytes.Repeat(text, 1000)
				}
				sent[s].Write(text)
				if err := w.Append(Stream(s), text, time.Now()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	a.end(t)
	readers.Wait()
	for i := range got {
		for s := range sent {
			if !bytes.Equal(got[i][s].Bytes(), sent[s].Bytes()) {
				t.Errorf("reader %d: %s: got %d bytes, want the %d that were sent", i, Stream(s), got[i][s].Len(), sent[s].Len())
			}
		}
	}
}

func followAll(t *testing.T, r backend.LogReader, got *[2]bytes.Buffer) {
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	open := [2]bool{}
	for {
		b, err := r.Next(ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			return
		}
		if b.Notice != "" {
			t.Errorf("got notice %q, want none", b.Notice)
			continue
		}
		s := Stdout
		if b.Stream == backend.Stderr {
			s = Stderr
		}
		if open[s] {
			t.Error("got more after an unfinished line, want a new line")
		}
		open[s] = !b.Partial && b.Data[len(b.Data)-1] != '\n'
		got[s].Write(b.Data)
	}
}

// TestFollowWithoutIndex follows plain files that another program writes.
func TestFollowWithoutIndex(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.attempts.Store(1)
	dir := filepath.Join(a.dir, "0")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, StdoutFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := openFollower(t, a.source(), all)
	for _, text := range []string{"one\n", "two\nthree\n"} {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		r.want(text)
	}
	a.end(t)
	r.wantEnd()
}
