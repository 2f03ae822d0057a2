package logstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/test/long"
)

func readGone(t testing.TB, dir string) trimmed {
	t.Helper()
	var r trimReader
	if err := r.open(dir); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if r.file == nil {
		t.Fatal("log.gone: not found, want it")
	}
	return r.now
}

// limitedLine is a line of a log with a size limit.
type limitedLine struct {
	line
	trimmed bool // completely
}

// naiveGone computes which lines are kept, and shortens a line that is partly trimmed.
func naiveGone(chunks []chunk, g trimmed) (lines, open []limitedLine) {
	var at [2]int64
	mark := func(all []line) (out []limitedLine) {
		for _, l := range all {
			begin := at[l.s]
			at[l.s] += int64(len(l.text))
			cut := min(max(0, g.off[l.s]-begin), int64(len(l.text)))
			l.text = l.text[cut:]
			out = append(out, limitedLine{l, l.text == ""})
		}
		return out
	}
	whole, rest := naive(chunks)
	return mark(whole), mark(rest)
}

// naiveLimited applies options, and reports whether a selected line was trimmed.
func naiveLimited(chunks []chunk, g trimmed, o backend.LogOptions) (kept []line, missing bool) {
	lines, open := naiveGone(chunks, g)
	var selected []limitedLine
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
		if number >= o.FromLine && (o.ToLine == 0 || number <= o.ToLine) {
			selected = append(selected, l)
		}
	}
	if o.Tail >= 0 && int64(len(selected)) > o.Tail {
		selected = selected[int64(len(selected))-o.Tail:]
	}
	for _, l := range selected {
		if l.trimmed {
			missing = true
			continue
		}
		kept = append(kept, l.line)
	}
	return kept, missing
}

// TestRandomLimitedLogs is TestRandomLogs with limits: kept lines are correct and have their
// correct numbers, and missing lines are reported.
func TestRandomLimitedLogs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cut, indexCut := 0, 0
	for seed := range uint64(32) {
		rng := rand.New(rand.NewPCG(seed, 2))
		data := make([]byte, 100+rng.IntN(500))
		for i := range data {
			data[i] = byte(rng.Uint32())
			if rng.IntN(3) > 0 {
				data[i] &^= 8
			}
		}
		chunks := chunksOf(data)
		if len(chunks) == 0 {
			continue
		}
		limit := int64(1) << (5 + rng.IntN(12))
		dir := filepath.Join(root, fmt.Sprint(seed))
		writeLimited(t, dir, chunks, limit)
		g := readGone(t, dir)
		checkFiles(t, dir, chunks, g)
		if g.off != [2]int64{} {
			cut++
		}
		if g.record > 0 {
			indexCut++
		}
		if seed%4 == 3 {
			if err := os.Remove(filepath.Join(dir, IndexFile)); err != nil {
				t.Fatal(err)
			}
			checkWithoutIndex(t, dir, chunks, g)
			continue
		}
		for range 20 {
			checkSelection(t, fmt.Sprintf("seed %d, limit %d", seed, limit), dir, chunks, g, rng)
		}
	}
	if cut < 16 || indexCut < 5 {
		t.Errorf("got %d trimmed logs, %d with a trimmed index, want at least 16 and 5", cut, indexCut)
	}
}

func checkSelection(t *testing.T, what, dir string, chunks []chunk, g trimmed, rng *rand.Rand) {
	t.Helper()
	opts := make([]byte, 8)
	for i := range opts {
		opts[i] = byte(rng.Uint32())
	}
	o := optionsOf(opts)
	if rng.IntN(3) == 0 { // around the border
		o.FromLine = max(0, g.lines[0]+g.lines[1]+int64(rng.IntN(9))-4)
	}
	got, notices := collect(t, oneAttempt(dir), o)
	want, missing := naiveLimited(chunks, g, o)
	what = fmt.Sprintf("%s, %+v", what, o)
	compare(t, what, got, want)
	unsure := g.mid != [2]bool{} || g.record > 0 && (!o.Since.IsZero() || !o.Until.IsZero())
	if missing != (len(notices) > 0) && (missing || !unsure) {
		t.Fatalf("%s: lines are missing: %v, got notices %q with %+v", what, missing, notices, g)
	}
	if len(notices) > 2 {
		t.Fatalf("%s: got notices %q, want at most 2", what, notices)
	}
}

// checkWithoutIndex: without the index the order is lost, but no byte.
func checkWithoutIndex(t *testing.T, dir string, chunks []chunk, g trimmed) {
	t.Helper()
	for s, stream := range []backend.Stream{backend.Stdout, backend.Stderr} {
		got, _ := collect(t, oneAttempt(dir), backend.LogOptions{Stream: stream, Tail: -1})
		want, _ := naiveLimited(chunks, g, backend.LogOptions{Stream: stream, Tail: -1})
		compareTexts(t, got, want)
		from := g.lines[s] + 2
		got, notices := collect(t, oneAttempt(dir), backend.LogOptions{Stream: stream, Tail: -1, FromLine: from})
		want, _ = naiveLimited(chunks, g, backend.LogOptions{Stream: stream, Tail: -1, FromLine: from})
		compareTexts(t, got, want)
		if !g.mid[s] && len(notices) > 0 {
			t.Fatalf("from line %d: got notices %q with %+v, want none", from, notices, g)
		}
	}
}

// checkFiles: files keep their sizes, trimmed bytes are zero, kept bytes are unchanged.
func checkFiles(t *testing.T, dir string, chunks []chunk, g trimmed) {
	t.Helper()
	for s, name := range dataFiles {
		var want []byte
		for _, c := range chunks {
			if c.s == Stream(s) {
				want = append(want, c.data...)
			}
		}
		if int64(len(want))-g.off[s] > g.limit {
			t.Fatalf("%s: got %d kept bytes, want at most %d", name, int64(len(want))-g.off[s], g.limit)
		}
		if lines := int64(bytes.Count(want[:g.off[s]], newline)); lines != g.lines[s] {
			t.Fatalf("%s: %d lines are trimmed, but log.gone has %d", name, lines, g.lines[s])
		}
		copy(want, make([]byte, g.off[s]))
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s (%v): want what was written, with zeroes for trimmed bytes", name, err)
		}
	}
}

func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

// TestLimitFreesTheDisk floods a log on the file system of the temporary folder and, where
// available, on a tmpfs.
func TestLimitFreesTheDisk(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "torchx-test-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		const limit = 256 << 10
		w, err := CreateLimited(dir, limit)
		if err != nil {
			t.Fatal(err)
		}
		if w.limiter.unsupported != nil {
			t.Fatalf("%s: %v", dir, w.limiter.unsupported)
		}
		var size int64
		for n := range 8000 { // a chunk of 1 KiB is one record here
			s := Stream(n % 2)
			line := []byte(strings.Repeat(strconv.Itoa(n%10), 1023) + "\n")
			if err := w.Append(s, line, epoch.Add(time.Duration(n)*time.Second)); err != nil {
				t.Fatal(err)
			}
			size += 512
		}
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{StdoutFile, StderrFile, IndexFile} {
			if got := allocated(t, filepath.Join(dir, name)); got > limit+64<<10 {
				t.Errorf("%s: got %d bytes on disk, want at most %d", filepath.Join(dir, name), got, limit+64<<10)
			}
		}
		if fi, _ := os.Stat(filepath.Join(dir, StdoutFile)); fi.Size() != size {
			t.Errorf("stdout.log: got size %d, want %d", fi.Size(), size)
		}
		lines, notices := collect(t, oneAttempt(dir), backend.LogOptions{Tail: -1})
		if len(lines) < 440 || lines[len(lines)-1].at != 7999*time.Second || len(notices) != 2 {
			t.Errorf("got %d lines, notices %q, want at least 440 up to the last, 2 notices", len(lines), notices)
		}
		if g := readGone(t, dir); g.record == 0 {
			t.Errorf("got %+v, want a trimmed index", g)
		}
	}
}

// TestLimitWithoutHoles simulates a file system that cannot free parts of a file.
func TestLimitWithoutHoles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := CreateLimited(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	w.limiter.unsupported = errors.New("the size limit of 100 bytes is reached")
	var failed []error
	for n := range 20 {
		if err := w.Append(Stdout, []byte("0123456789\n"), epoch.Add(time.Duration(n)*time.Second)); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) != 1 || !strings.Contains(failed[0].Error(), "size limit") {
		t.Errorf("got errors %v, want one about the size limit", failed)
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	lines, notices := collect(t, oneAttempt(dir), backend.LogOptions{Tail: -1})
	if len(lines) != 9 || len(notices) != 1 || !strings.Contains(notices[0], "121 bytes of stdout lost") || !strings.Contains(notices[0], "size limit of 100 bytes") {
		t.Errorf("got %d lines, notices %q, want 9 lines and one notice of the loss", len(lines), notices)
	}
}

// TestKilledBeforeFreeing: log.gone is ahead of the holes.
func TestKilledBeforeFreeing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := CreateLimited(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	w.limiter.busy = true // nothing is freed
	var chunks []chunk
	for n := range 150 {
		c := chunk{Stdout, fmt.Sprintf("line %d\n", n), time.Duration(n) * time.Second}
		chunks = append(chunks, c)
		if err := w.Append(c.s, []byte(c.data), epoch.Add(c.at)); err != nil {
			t.Fatal(err)
		}
	}
	g := readGone(t, dir) // the writer is killed here
	if g.lines[Stdout] == 0 {
		t.Fatal("got no trimmed lines, want some")
	}
	o := backend.LogOptions{Tail: -1}
	got, notices := collect(t, oneAttempt(dir), o)
	want, _ := naiveLimited(chunks, g, o)
	compare(t, "after a kill", got, want)
	if len(notices) != 1 || !strings.HasPrefix(notices[0], fmt.Sprintf("gap: lines 1 to %d of stdout, written until ", g.lines[Stdout])) {
		t.Errorf("got notices %q, want one gap", notices)
	}
}

// TestReadersRaceWithTheLimit: every line that a reader returns while its log is trimmed is
// correct and has its correct number.
func TestReadersRaceWithTheLimit(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	dir := a.source().Dir(0)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := CreateLimited(dir, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	a.attempts.Store(1)
	unsupported := make(chan struct{})
	readers := make(chan error)
	for i := range 4 {
		go func() { readers <- readWhile(a.source(), i, unsupported) }()
	}
	end := time.Now().Add(time.Duration(long.N(3000, 500)) * time.Millisecond)
	for n := 0; time.Now().Before(end); n++ {
		s := Stream(n % 3 / 2)
		if err := w.Append(s, fmt.Appendf(nil, "%s %d %s\n", s, n, strings.Repeat("x", n%200)), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	close(unsupported)
	for range 4 {
		if err := <-readers; err != nil {
			t.Error(err)
		}
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
}

func readWhile(src Source, i int, unsupported chan struct{}) error {
	options := []backend.LogOptions{
		{Tail: -1}, {Tail: 50}, {Tail: -1, Follow: true}, {Tail: -1, Stream: backend.Stdout, FromLine: 1},
	}
	for {
		select {
		case <-unsupported:
			return nil
		default:
		}
		if err := readOnce(src, options[i]); err != nil {
			return fmt.Errorf("reader %d: %w", i, err)
		}
	}
}

func readOnce(src Source, o backend.LogOptions) error {
	r, err := Open(src, o)
	if err != nil {
		return err
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	last := [2]int{-1, -1}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		for text := range bytes.Lines(b.Data) {
			if err := checkLine(text, &last); err != nil {
				return err
			}
		}
	}
}

// checkLine checks that a line is as written, and later than the one before.
func checkLine(text []byte, last *[2]int) error {
	var name, rest string
	var n int
	if _, err := fmt.Sscanf(string(text), "%s %d %s\n", &name, &n, &rest); err != nil && n%200 != 0 {
		return fmt.Errorf("line %.60q: %w", text, err)
	}
	s := n % 3 / 2
	if want := fmt.Sprintf("%s %d %s\n", Stream(s), n, strings.Repeat("x", n%200)); want != string(text) {
		return fmt.Errorf("line %.60q, want %.60q", text, want)
	}
	if n <= last[s] {
		return fmt.Errorf("line %d after %d", n, last[s])
	}
	last[s] = n
	return nil
}
