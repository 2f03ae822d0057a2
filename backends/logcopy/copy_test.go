package logcopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/runtime/logstore"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// remote is a log of two streams. It sends exactly the entries of Options.Since or later.
type remote struct {
	mu      sync.Mutex
	rand    *rand.Rand
	entries []Entry
	first   int // index of the oldest entry that was not rotated away
	state   State
	changed chan struct{}
	cuts    bool // streams break at random entries
	gap     string
	openErr error // what Open returns
	polls   bool
	tails   int // streams that were opened with Tail
}

func newRemote(seed uint64) *remote {
	return &remote{rand: rand.New(rand.NewPCG(seed, 1)), state: Running, changed: make(chan struct{})}
}

func (r *remote) update(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *remote) State() (State, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.changed
}

func (r *remote) Open(ctx context.Context, o Options) (Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.openErr != nil {
		return nil, r.openErr
	}
	s := &remoteStream{remote: r, ctx: ctx, o: o, next: r.first, untilCut: -1}
	if o.Tail > 0 {
		s.next = max(s.next, len(r.entries)-int(o.Tail))
		r.tails++
	}
	if r.cuts {
		s.untilCut = r.rand.IntN(30)
	}
	s.gap, r.gap = r.gap, ""
	return s, nil
}

type remoteStream struct {
	remote   *remote
	ctx      context.Context //nolint:containedctx // of the stream
	o        Options
	next     int
	untilCut int // entries until the stream breaks; negative: never
	gap      string
}

var errCut = errors.New("connection reset by peer")

func (s *remoteStream) Next() (Entry, error) {
	if s.gap != "" {
		e := Entry{Gap: s.gap}
		s.gap = ""
		return e, nil
	}
	for {
		s.remote.mu.Lock()
		changed, ended := s.remote.changed, !s.o.Follow || s.remote.state >= Ended
		for s.next < len(s.remote.entries) && s.remote.entries[s.next].Time.Before(s.o.Since) {
			s.next++ // engines leave out older entries
		}
		more := s.next < len(s.remote.entries)
		var e Entry
		if more {
			e = s.remote.entries[s.next]
		}
		polls := s.remote.polls && s.o.Follow
		s.remote.mu.Unlock()
		switch {
		case s.untilCut == 0:
			return e, errCut
		case polls:
			return e, ErrPoll
		case more:
			s.untilCut--
			s.next++
			return e, nil
		case ended:
			return e, io.EOF
		}
		select {
		case <-s.ctx.Done():
			return e, s.ctx.Err()
		case <-changed:
		}
	}
}

func (s *remoteStream) MayBlock() bool { return true }

func (s *remoteStream) Close() error { return nil }

var fastMode = Mode{Follow: true, GapGone: "gap: gone", Timing: Timing{Backoff: 10 * time.Microsecond, MaxBackoff: time.Millisecond, ResetAfter: time.Hour}}

// copyTo resumes the copy in dir as a new process would.
func copyTo(ctx context.Context, t *testing.T, r *remote, dir string, m Mode) (bool, error) {
	t.Helper()
	l, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	var c OffsetCursor
	if err := ReadCursor(dir, &c); err != nil {
		t.Fatal(err)
	}
	at := NewOffsetPosition(c)
	l.Save = func() error { return WriteCursor(dir, at.Cursor) }
	done, err := Copy(ctx, r, l, at, m)
	if closed := l.Close(); closed != nil {
		t.Error(closed)
	}
	return done, err
}

// contents returns both streams of a copy and its number of gaps.
func contents(t *testing.T, dir string) (streams [2]string, gaps int) {
	t.Helper()
	for i, name := range []string{logstore.StdoutFile, logstore.StderrFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		streams[i] = string(data)
	}
	lost, _ := os.ReadFile(filepath.Join(dir, logstore.LostFile)) // does not exist without gaps
	return streams, strings.Count(string(lost), `"gap"`)
}

// lines returns n random entries and the expected streams. Times within a stream never decrease.
func lines(r *rand.Rand, n int) (entries []Entry, want [2]string) {
	last := [2]time.Time{epoch, epoch}
	for i := range n {
		s := logstore.Stream(r.IntN(2))
		last[s] = last[s].Add(time.Duration(r.IntN(300)) * time.Millisecond)
		if last[s].Before(last[1-s].Add(-maxReorder / 2)) {
			last[s] = last[1-s]
		}
		text := fmt.Sprintf("%d\n", i)
		if r.IntN(5) == 0 {
			text = fmt.Sprintf("%d ", i) // a part of a line
		}
		entries = append(entries, Entry{Stream: s, Time: last[s], Data: []byte(text), Last: strings.HasSuffix(text, "\n")})
		want[s] += text
	}
	return entries, want
}

func commonPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func TestCopyEveryEntryOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r, dir := newRemote(seed), t.TempDir()
			entries, want := lines(rand.New(rand.NewPCG(seed, 2)), 300)
			r.cuts, r.polls = true, seed%4 == 0
			go func() {
				for batch := range slices.Chunk(entries, 7) {
					r.update(func() { r.entries = append(r.entries, batch...) })
				}
				r.update(func() { r.state, r.cuts = Ended, false })
			}()
			for done := false; !done; {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+seed%5)*time.Millisecond)
				var err error
				done, err = copyTo(ctx, t, r, dir, fastMode)
				if err != nil && ctx.Err() == nil {
					t.Fatal(err)
				}
				cancel()
			}
			got, gaps := contents(t, dir)
			if gaps != 0 {
				t.Errorf("got %d gaps, want none", gaps)
			}
			for i := range got {
				if n := commonPrefix(got[i], want[i]); got[i] != want[i] {
					t.Errorf("stream %d: got %d bytes, want %d; from byte %d on: got %.50q, want %.50q", i, len(got[i]), len(want[i]), n, got[i][n:], want[i][n:])
				}
			}
		})
	}
}

func TestGapAfterRotation(t *testing.T) {
	t.Parallel()
	r, dir := newRemote(1), t.TempDir()
	for i := range 10 {
		r.entries = append(r.entries, Entry{Time: epoch.Add(time.Duration(i) * 2 * time.Second), Data: fmt.Appendf(nil, "%d\n", i)})
	}
	all := r.entries
	r.entries = all[:5]
	once := fastMode
	once.Follow = false
	if _, err := copyTo(t.Context(), t, r, dir, once); err != nil {
		t.Fatal(err)
	}
	r.entries, r.first, r.state = all, 7, Ended
	if done, err := copyTo(t.Context(), t, r, dir, fastMode); !done || err != nil {
		t.Fatalf("got %v, %v, want done", done, err)
	}
	if got, gaps := contents(t, dir); got[0] != "0\n1\n2\n3\n4\n7\n8\n9\n" || gaps != 2 {
		t.Errorf("got %d gaps and %q, want one gap per stream and the remaining lines", gaps, got[0])
	}
	if r.tails == 0 {
		t.Error("no stream was opened with Tail")
	}
}

func TestEndOfCopy(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such driver")
	for name, test := range map[string]struct {
		prepare func(r *remote)
		done    bool
		err     error
		gaps    int
	}{
		"gone":       {func(r *remote) { r.openErr = ErrGone }, true, nil, 1},
		"refused":    {func(r *remote) { r.openErr = ErrRefused }, false, ErrRefused, 0},
		"unreadable": {func(r *remote) { r.openErr = &UnreadableError{Gap: "gap: unreadable", Err: broken} }, true, broken, 1},
		"never":      {func(r *remote) { r.state = NeverStarted }, true, nil, 0},
		"a gap":      {func(r *remote) { r.gap = "gap: engine restarted" }, true, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := newRemote(1), t.TempDir()
			r.state = Ended
			test.prepare(r)
			done, err := copyTo(t.Context(), t, r, dir, fastMode)
			if done != test.done || !errors.Is(err, test.err) {
				t.Errorf("got %v, %v, want %v, %v", done, err, test.done, test.err)
			}
			if _, gaps := contents(t, dir); gaps != 2*test.gaps {
				t.Errorf("got %d gaps in both streams, want %d", gaps, 2*test.gaps)
			}
		})
	}
}

func TestChunk(t *testing.T) {
	t.Parallel()
	var c Chunk
	if !c.Accepts(logstore.Stderr, epoch) {
		t.Error("an entry does not fit an empty chunk")
	}
	c.Add(logstore.Stdout, epoch, []byte("a"))
	for _, test := range []struct {
		s    logstore.Stream
		t    time.Time
		want bool
	}{
		{logstore.Stdout, epoch.Add(chunkTime), true},
		{logstore.Stdout, epoch.Add(chunkTime + 1), false},
		{logstore.Stderr, epoch, false},
	} {
		if got := c.Accepts(test.s, test.t); got != test.want {
			t.Errorf("an entry of %v at %v: got %v, want %v", test.s, test.t.Sub(epoch), got, test.want)
		}
	}
	if c.Add(logstore.Stdout, epoch, make([]byte, chunkBytes)); c.Accepts(logstore.Stdout, epoch) {
		t.Error("an entry fits a full chunk")
	}
}
