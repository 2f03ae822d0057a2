package logstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/test/long"
)

const sec = time.Second

var all = backend.LogOptions{Tail: -1}

func TestLongLines(t *testing.T) {
	t.Parallel()
	for _, size := range []int{window - 1, window, window + 1, 64 << 10, 3 << 20, long.N(2*maxLine+5, 1)} {
		long := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		chunks := []chunk{{Stdout, "before\n", 0}}
		for i := 0; i < size; i += 64 << 10 {
			n := len(chunks)
			chunks = append(chunks,
				chunk{Stdout, long[i:min(size, i+64<<10)], time.Duration(n) * 6 * time.Millisecond},
				chunk{Stderr, fmt.Sprintf("err %d\n", i), time.Duration(n)*6*time.Millisecond + 1})
		}
		chunks = append(chunks, chunk{Stdout, "\nafter\n", time.Hour})
		dir := filepath.Join(t.TempDir(), "0")
		writeLog(t, dir, chunks)
		options := []backend.LogOptions{all, {Tail: -1, Stream: backend.Stdout}, {Tail: 2}, {Tail: -1, FromLine: 3}}
		if size > maxLine {
			options = options[:1]
		}
		for _, o := range options {
			got, _ := collect(t, oneAttempt(dir), o)
			compare(t, fmt.Sprintf("%d bytes, %+v", size, o), got, naiveSelect(chunks, o))
		}
	}
}

func TestOneLineIsOneBlockUpToTheLimit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "0")
	text := strings.Repeat("x", 10<<20) + "\n"
	writeLog(t, dir, []chunk{{Stdout, text[:5<<20], 0}, {Stdout, text[5<<20:], sec}})
	r, err := Open(oneAttempt(dir), all)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := r.Next(t.Context())
	if err != nil || len(b.Data) != len(text) || b.Partial {
		t.Errorf("got %d bytes, partial %v, %v, want one whole line", len(b.Data), b.Partial, err)
	}
}

func TestEmptyLogs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "0")
	writeLog(t, dir, nil)
	for _, o := range []backend.LogOptions{all, {Tail: 5}, {Tail: -1, FromLine: 3}, {Tail: -1, Follow: true}, {Tail: -1, Since: epoch}} {
		if lines, notices := collect(t, oneAttempt(dir), o); len(lines)+len(notices) > 0 {
			t.Errorf("%+v: got %v, %v, want nothing", o, lines, notices)
		}
	}
	if lines, _ := collect(t, Source{State: func() (int, bool, error) { return 0, false, nil }}, all); len(lines) > 0 {
		t.Errorf("before the first attempt: got %v, want nothing", lines)
	}
}

// someLog has two streams that end in unfinished lines.
var someLog = []chunk{
	{Stdout, "out 1\nout 2\r\n", 0},
	{Stderr, "err 1\n\x00\xff\xfe\n", sec},
	{Stdout, "out", 2 * sec},
	{Stderr, "err", 3 * sec},
	{Stdout, " 3\nrest", 4 * sec},
}

func TestKilledBetweenDataAndIndex(t *testing.T) {
	t.Parallel()
	for _, cut := range []int64{1, recordSize, recordSize + 7, 3 * recordSize} {
		dir := filepath.Join(t.TempDir(), "0")
		writeLog(t, dir, someLog)
		index := filepath.Join(dir, IndexFile)
		fi, err := os.Stat(index)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(index, fi.Size()-cut); err != nil {
			t.Fatal(err)
		}
		checkRest(t, dir)
	}
}

// checkRest reads someLog with an index that ends early.
func checkRest(t *testing.T, dir string) {
	t.Helper()
	late := epoch.Add(time.Hour)
	for _, name := range dataFiles {
		if err := os.Chtimes(filepath.Join(dir, name), late, late); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []backend.Stream{backend.Stdout, backend.Stderr} {
		lines, _ := collect(t, oneAttempt(dir), backend.LogOptions{Tail: -1, Stream: s})
		compareTexts(t, lines, naiveSelect(someLog, backend.LogOptions{Tail: -1, Stream: s}))
	}
	lines, notices := collect(t, oneAttempt(dir), all)
	if len(lines) != 7 || len(notices) > 0 {
		t.Fatalf("got %d lines, notices %q, want 7 and none", len(lines), notices)
	}
	if last := lines[len(lines)-1]; last.at != time.Hour {
		t.Errorf("time of the rest: got %v, want %v", last.at, time.Hour)
	}
}

func compareTexts(t *testing.T, got, want []line) {
	t.Helper()
	for i := range want {
		want[i].at = 0
	}
	for i := range got {
		got[i].at = 0
	}
	compare(t, "texts", got, want)
}

func TestIndexIsMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "0")
	writeLog(t, dir, someLog)
	if err := os.Remove(filepath.Join(dir, IndexFile)); err != nil {
		t.Fatal(err)
	}
	checkRest(t, dir)
}

func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	put := func(at int64, b ...byte) func([]byte) []byte {
		return func(p []byte) []byte { copy(p[at:], b); return p }
	}
	tests := []struct {
		name   string
		damage func([]byte) []byte
		notice string
	}{
		{"rubbish", func([]byte) []byte { return []byte(strings.Repeat("rubbish\n", 40)) }, "is damaged"},
		{"empty", func([]byte) []byte { return nil }, ""},
		{"zeroes at the end", func(p []byte) []byte { return append(p, make([]byte, 500)...) }, ""},
		{"a record in the middle", put(2*recordSize+8, 0, 0, 0, 0), "is damaged after record 1"},
		{"ends far behind the data", put(3*recordSize+8, 0, 0, 0, 0, 1), ""},
		{"negative", put(recordSize, 0, 0, 0, 0, 0, 0, 0, 0xff), "is damaged after record 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "0")
			writeLog(t, dir, someLog)
			name := filepath.Join(dir, IndexFile)
			p, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, tt.damage(p), 0o600); err != nil {
				t.Fatal(err)
			}
			lines, notices := collect(t, oneAttempt(dir), all)
			if len(lines) < 7 {
				t.Errorf("got %d lines %v, want at least 7", len(lines), lines)
			}
			if tt.notice != "" && !strings.Contains(strings.Join(notices, " "), tt.notice) {
				t.Errorf("got notices %q, want %q", notices, tt.notice)
			}
			for _, o := range []backend.LogOptions{
				{Tail: 3}, {Tail: -1, FromLine: 2, ToLine: 4}, {Tail: -1, Since: epoch.Add(sec)}, {Tail: -1, Stream: backend.Stderr, Follow: true},
			} {
				collect(t, oneAttempt(dir), o) // must end
			}
		})
	}
}

func TestTruncatedData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "0")
	writeLog(t, dir, someLog)
	if err := os.Truncate(filepath.Join(dir, StdoutFile), 8); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, StderrFile)); err != nil {
		t.Fatal(err)
	}
	lines, notices := collect(t, oneAttempt(dir), all)
	compareTexts(t, lines, []line{{Stdout, "out 1\n", 0}, {Stdout, "ou", 0}})
	if len(notices) != 2 || !strings.Contains(notices[0], "stdout.log has been cut short: 15 bytes from byte 8 on are missing") ||
		!strings.Contains(notices[1], "stderr.log is gone: 13 bytes from byte 0 on are missing") {
		t.Errorf("got notices %q, want one for each file", notices)
	}
}

// attempts is a source with folders 0, 1, … in dir.
func attempts(dir string, n int, done bool) Source {
	return Source{
		Dir:   func(a int) string { return filepath.Join(dir, fmt.Sprint(a)) },
		State: func() (int, bool, error) { return n, done, nil },
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for a := range 3 {
		writeLog(t, filepath.Join(dir, fmt.Sprint(a)), []chunk{
			{Stdout, fmt.Sprintf("%d.1\n%d.2\n%d.3", a, a, a), time.Duration(a) * sec},
		})
	}
	one := 1
	tests := []struct {
		o    backend.LogOptions
		want string
	}{
		{backend.LogOptions{Tail: -1}, "2.1 2.2 2.3"},
		{backend.LogOptions{Tail: -1, Attempt: &one}, "1.1 1.2 1.3"},
		{backend.LogOptions{Tail: -1, Attempt: &one, Follow: true}, "1.1 1.2 1.3"},
		{backend.LogOptions{Tail: -1, AllAttempts: true}, "0.1 0.2 0.3 1.1 1.2 1.3 2.1 2.2 2.3"},
		{backend.LogOptions{Tail: 4, AllAttempts: true}, "1.3 2.1 2.2 2.3"},
		{backend.LogOptions{Tail: 0, AllAttempts: true}, ""},
		{backend.LogOptions{Tail: -1, AllAttempts: true, FromLine: 3, ToLine: 5}, "0.3 1.1 1.2"},
		{backend.LogOptions{Tail: 2, AllAttempts: true, FromLine: 3, ToLine: 5}, "1.1 1.2"},
		{backend.LogOptions{Tail: -1, AllAttempts: true, FromLine: 7, Follow: true}, "2.1 2.2 2.3"},
		{backend.LogOptions{Tail: -1, AllAttempts: true, Since: epoch.Add(sec), Until: epoch.Add(2 * sec)}, "1.1 1.2 1.3"},
	}
	for _, tt := range tests {
		lines, _ := collect(t, attempts(dir, 3, true), tt.o)
		var got []string
		for _, l := range lines {
			got = append(got, strings.TrimSpace(l.text))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.o, got, tt.want)
		}
	}
}

func TestUnknownAttemptAndOptions(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "none has begun", 1: "the only one is 0", 3: "known ones are 0 to 2"} {
		for _, attempt := range []int{5, -1} {
			_, err := Open(attempts(t.TempDir(), n, true), backend.LogOptions{Tail: -1, Attempt: &attempt})
			if !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), want) {
				t.Errorf("attempt %d of %d: got %v, want %q", attempt, n, err, want)
			}
		}
	}
	if _, err := Open(attempts(t.TempDir(), 1, true), backend.LogOptions{Stream: "all"}); !errors.Is(err, backend.ErrInvalidOption) {
		t.Errorf("invalid stream: got %v, want an invalid option", err)
	}
	broken := errors.New("broken")
	if _, err := Open(Source{State: func() (int, bool, error) { return 0, false, broken }}, all); !errors.Is(err, broken) {
		t.Errorf("error of State: got %v, want it", err)
	}
}

func TestDeletedLogIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeLog(t, filepath.Join(dir, "1"), []chunk{{Stdout, "left\n", 0}})
	for _, o := range []backend.LogOptions{{Tail: -1, AllAttempts: true}, {Tail: -1, AllAttempts: true, Follow: true}, {Tail: 9, AllAttempts: true}} {
		lines, notices := collect(t, attempts(dir, 2, true), o)
		if len(lines) != 1 || len(notices) != 1 || !strings.Contains(notices[0], "the log of attempt 0 is gone, since 20") {
			t.Errorf("got %v, %q, want one line and one notice", lines, notices)
		}
	}
	if lines, notices := collect(t, attempts(dir, 3, false), all); len(lines)+len(notices) != 0 {
		t.Errorf("an attempt that is just starting: got %v, %q, want nothing", lines, notices)
	}
}

func TestReadersAreIndependentAndCloseTwice(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "0")
	writeLog(t, dir, someLog)
	a, err := Open(oneAttempt(dir), all)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(oneAttempt(dir), all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("Close: got %v, want nil", err)
		}
	}
	if _, err := a.Next(t.Context()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: got %v, want fs.ErrClosed", err)
	}
	if lines, _ := drain(t, b); len(lines) != 7 {
		t.Errorf("other reader: got %d lines, want 7", len(lines))
	}
	if _, err := b.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: got %v, want io.EOF", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got %v, want context.Canceled", err)
	}
	b.Close()
}
