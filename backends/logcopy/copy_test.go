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

// remote is a log of two streams that sends exactly what is of a time or later.
type remote struct {
	mu      sync.Mutex
	rand    *rand.Rand
	entries []Entry
	first   int // what is before was rotated away
	state   State
	changed chan struct{}
	cuts    bool // streams end anywhere
	gap     string
	fail    error // of Open
	polls   bool
	follows int
	tails   int // streams that were limited to the end
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
	if r.fail != nil {
		return nil, r.fail
	}
	s := &remoteStream{remote: r, ctx: ctx, o: o, at: r.first, left: -1}
	if o.Tail > 0 {
		s.at = max(s.at, len(r.entries)-int(o.Tail))
		r.tails++
	}
	if o.Follow {
		r.follows++
	}
	if r.cuts {
		s.left = r.rand.IntN(30)
	}
	s.gap, r.gap = r.gap, ""
	return s, nil
}

type remoteStream struct {
	remote *remote
	ctx    context.Context //nolint:containedctx // of the stream
	o      Options
	at     int
	left   int // entries until it is cut; < 0: it is not
	gap    string
}

var errCut = errors.New("connection reset by peer")

func (s *remoteStream) Next() (Entry, error) {
	if s.gap != "" {
		p := Entry{Gap: s.gap}
		s.gap = ""
		return p, nil
	}
	for {
		s.remote.mu.Lock()
		changed, over := s.remote.changed, !s.o.Follow || s.remote.state >= Ended
		for s.at < len(s.remote.entries) && s.remote.entries[s.at].Time.Before(s.o.Since) {
			s.at++ // engines leave out each entry that is older
		}
		more := s.at < len(s.remote.entries)
		var p Entry
		if more {
			p = s.remote.entries[s.at]
		}
		polls := s.remote.polls && s.o.Follow
		s.remote.mu.Unlock()
		switch {
		case s.left == 0:
			return p, errCut
		case polls:
			return p, ErrPoll
		case more:
			s.left--
			s.at++
			return p, nil
		case over:
			return p, io.EOF
		}
		select {
		case <-s.ctx.Done():
			return p, s.ctx.Err()
		case <-changed:
		}
	}
}

func (s *remoteStream) MayBlock() bool { return true }

func (s *remoteStream) Close() error { return nil }

var quick = Mode{Follow: true, GapGone: "gap: gone", Timing: Timing{Backoff: 10 * time.Microsecond, MaxBackoff: time.Millisecond, ResetAfter: time.Hour}}

// copyInto goes on with the copy in a folder, as a new process does.
func copyInto(ctx context.Context, t *testing.T, r *remote, dir string, m Mode) (bool, error) {
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

// contents returns what both streams of a copy have, and its gaps.
func contents(t *testing.T, dir string) (streams [2]string, gaps int) {
	t.Helper()
	for i, name := range []string{logstore.StdoutFile, logstore.StderrFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		streams[i] = string(data)
	}
	lost, _ := os.ReadFile(filepath.Join(dir, logstore.LostFile)) // not there: no gap
	return streams, strings.Count(string(lost), `"gap"`)
}

// lines makes entries of both streams; times of one stream never go back.
func lines(r *rand.Rand, n int) (entries []Entry, want [2]string) {
	last := [2]time.Time{epoch, epoch}
	for i := range n {
		s := logstore.Stream(r.IntN(2))
		last[s] = last[s].Add(time.Duration(r.IntN(300)) * time.Millisecond)
		if last[s].Before(last[1-s].Add(-settleTime / 2)) {
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

func TestEveryEntryOnce(t *testing.T) {
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
				done, err = copyInto(ctx, t, r, dir, quick)
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

func TestRotatedEntries(t *testing.T) {
	t.Parallel()
	r, dir := newRemote(1), t.TempDir()
	for i := range 10 {
		r.entries = append(r.entries, Entry{Time: epoch.Add(time.Duration(i) * 2 * time.Second), Data: fmt.Appendf(nil, "%d\n", i)})
	}
	all := r.entries
	r.entries = all[:5]
	once := quick
	once.Follow = false
	if _, err := copyInto(t.Context(), t, r, dir, once); err != nil {
		t.Fatal(err)
	}
	r.entries, r.first, r.state = all, 7, Ended
	if done, err := copyInto(t.Context(), t, r, dir, quick); !done || err != nil {
		t.Fatalf("got %v, %v, want done", done, err)
	}
	if got, gaps := contents(t, dir); got[0] != "0\n1\n2\n3\n4\n7\n8\n9\n" || gaps != 2 {
		t.Errorf("got %d gaps and %q, want one in each stream and the lines that are left", gaps, got[0])
	}
	if r.tails == 0 {
		t.Error("the end of the log was never asked for alone")
	}
}

func TestHowCopiesEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such driver")
	for name, test := range map[string]struct {
		prepare func(r *remote)
		done    bool
		err     error
		gaps    int
	}{
		"gone":       {func(r *remote) { r.fail = ErrGone }, true, nil, 1},
		"refused":    {func(r *remote) { r.fail = ErrRefused }, false, ErrRefused, 0},
		"unreadable": {func(r *remote) { r.fail = &UnreadableError{Gap: "gap: unreadable", Err: broken} }, true, broken, 1},
		"never":      {func(r *remote) { r.state = NeverStarted }, true, nil, 0},
		"a gap":      {func(r *remote) { r.gap = "gap: engine restarted" }, true, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := newRemote(1), t.TempDir()
			r.state = Ended
			test.prepare(r)
			done, err := copyInto(t.Context(), t, r, dir, quick)
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
	if !c.Fits(logstore.Stderr, epoch) {
		t.Error("an empty chunk refuses an entry")
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
		if got := c.Fits(test.s, test.t); got != test.want {
			t.Errorf("an entry of %v at %v: got %v, want %v", test.s, test.t.Sub(epoch), got, test.want)
		}
	}
	if c.Add(logstore.Stdout, epoch, make([]byte, chunkBytes)); c.Fits(logstore.Stdout, epoch) {
		t.Error("a full chunk takes an entry")
	}
}
